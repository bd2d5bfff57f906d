"""Engines for the contract suite: every test that takes `engine` holds for each of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.workspaces import WorkspaceSettings


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
