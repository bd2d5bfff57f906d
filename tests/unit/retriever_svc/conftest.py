"""Engines for the contract suite: every test that takes `engine` holds for each of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import pytest

from justesse.retriever.v1 import workspaces_pb2
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.milvus.milvus_engine import MilvusEngine
from retriever_svc.milvus.milvus_variables import Engine
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.milvus_stores import milvus_settings, shared_milvus, store_of
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.retriever_client import RetrieverClient


@asynccontextmanager
async def embedded(folder: Path, dense: DenseSettings) -> AsyncIterator[RetrievalEngine]:
    """Opens the embedded engine over an empty folder and closes it."""
    settings = EmbeddedSettings(folder, dense=dense)
    opened = await asyncio.to_thread(EmbeddedEngine, settings)
    try:
        yield opened
    finally:
        await asyncio.to_thread(opened.close)


@asynccontextmanager
async def plain(folder: Path) -> AsyncIterator[RetrievalEngine]:
    """Gives a plain engine; the folder stays empty."""
    yield PlainEngine()


@asynccontextmanager
async def milvus(folder: Path) -> AsyncIterator[RetrievalEngine]:
    """Opens an engine over a database that belongs to the folder; the folder stays empty."""
    settings = milvus_settings(store_of(folder))
    opened = await asyncio.to_thread(MilvusEngine, settings)
    try:
        yield opened
    finally:
        await asyncio.to_thread(opened.close)


@dataclass(frozen=True, slots=True)
class OfferedEngine:
    """Holds an engine that takes part in the suite."""

    open: Callable[[Path], AbstractAsyncContextManager[RetrievalEngine]]
    """Opens it over a folder."""
    durable: bool
    """What it acknowledged is there when the folder is opened again."""


# Another engine takes part in the whole suite by an entry here.
ENGINES = {
    "embedded": OfferedEngine(lambda folder: embedded(folder, DenseSettings()), durable=True),
    "embedded with graphs from the first vectors on": OfferedEngine(
        lambda folder: embedded(folder, DenseSettings(flat_row_limit=0, growing_row_limit=1)),
        durable=True,
    ),
    "milvus": OfferedEngine(milvus, durable=True),
    "plain": OfferedEngine(plain, durable=False),
}


@pytest.fixture(params=ENGINES)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RetrievalEngine]:
    """An engine with an empty French workspace `docs`."""
    async with ENGINES[request.param].open(tmp_path / "data") as opened:
        await opened.create_workspace("docs", WorkspaceSettings())
        yield opened


@pytest.fixture(params=[name for name, offered in ENGINES.items() if offered.durable])
def reopened(request: pytest.FixtureRequest) -> OfferedEngine:
    """An engine that keeps what it acknowledged."""
    return ENGINES[request.param]


@pytest.fixture(params=list(Engine))
async def retriever(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[RetrieverClient]:
    """A running retriever with the workspace `docs`."""
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data")
    if request.param is Engine.MILVUS:
        settings = RetrieverSettings(
            port=0,
            engine=Engine.MILVUS,
            store_url=store_of(tmp_path),
            milvus_uri=shared_milvus().uri,
            milvus_threads=4,
        )
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        retriever = RetrieverClient(channel)
        await retriever.workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )
        yield retriever
