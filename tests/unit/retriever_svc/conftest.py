"""Engines for the contract suite: every test that takes `engine` holds for each of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import pytest

from justesse.retriever.v1 import workspaces_pb2
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retriever_client import RetrieverClient


@pytest.fixture(params=["embedded"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RetrievalEngine]:
    """An engine with an empty French workspace `docs`."""
    assert request.param == "embedded"
    opened = await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(tmp_path / "data"))
    try:
        await opened.create_workspace("docs", WorkspaceSettings())
        yield opened
    finally:
        await asyncio.to_thread(opened.close)


@pytest.fixture
async def retriever(tmp_path: Path) -> AsyncIterator[RetrieverClient]:
    """A running retriever with the workspace `docs`."""
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data")
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        retriever = RetrieverClient(channel)
        await retriever.workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )
        yield retriever
