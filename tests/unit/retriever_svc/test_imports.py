"""Imports are built aside: shown whole, or gone, whoever dies or gives up."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import grpc.aio
import pytest

from chassis.errors import Aborted, InvalidArgument, ResourceExhausted
from justesse.retriever.v1 import transfers_pb2, transfers_pb2_grpc, workspaces_pb2
from retriever_svc.engine import RetrievalEngine
from retriever_svc.service import running_retriever
from retriever_svc.servicer.transfers import TransferServicer
from retriever_svc.settings import RetrieverSettings
from retriever_svc.transfers.imports import Imports
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.transfers.workspace_copy import WorkspaceHead
from retriever_svc.wire.uploads import UploadLimits
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.retrieval import upsert
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.transfers import exported, fill, imported

HEAD = WorkspaceHead(WorkspaceSettings(), (), "")
MANY = TransferLimits(changes_at_once=8)
ASIDE = "~import-" + "0" * 32


async def slugs(engine: RetrievalEngine) -> list[str]:
    """Returns the slugs of all workspaces, those aside too."""
    return [one.slug for one in await engine.list_workspaces()]


async def test_nothing_is_seen_until_the_end(engine: RetrievalEngine) -> None:
    """While it is built nobody finds it by its name; then it is whole."""
    imports = Imports(engine, MANY)
    async with imports.building("new", HEAD) as building:
        await building.add(upsert("one", ["eau"], workspace=building.aside), 10)
        await building.settle()
        meanwhile = await slugs(engine)

    assert "new" not in meanwhile
    assert await slugs(engine) == ["docs", "new"]
    assert (await engine.describe_workspace("new")).document_count == 1


async def test_an_import_that_fails_leaves_nothing(engine: RetrievalEngine) -> None:
    """Also where documents before the wrong one are still being stored."""

    async def bring() -> None:
        async with Imports(engine, MANY).building("new", HEAD) as building:
            for name in ("one", "two", "one", "three"):
                await building.add(upsert(name, ["eau"], workspace=building.aside), 10)

    with pytest.raises(InvalidArgument, match="comes twice"):
        await bring()

    assert await slugs(engine) == ["docs"]


async def test_an_import_whose_caller_is_gone_leaves_nothing(engine: RetrievalEngine) -> None:
    """It is deleted though its task was cancelled."""
    imports = Imports(engine, MANY)
    began = asyncio.Event()

    async def bring() -> None:
        async with imports.building("new", HEAD) as building:
            await building.add(upsert("one", ["eau"], workspace=building.aside), 10)
            began.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(bring())
    await began.wait()
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert await slugs(engine) == ["docs"]


async def test_only_the_rests_of_the_dead_are_swept(engine: RetrievalEngine) -> None:
    """What a living import builds stays, also for another process that sweeps."""
    await engine.create_workspace(ASIDE, WorkspaceSettings())
    ours, theirs = Imports(engine, MANY), Imports(engine, MANY)
    async with ours.building("new", HEAD) as building:
        await theirs.sweep()
        await ours.sweep()
        meanwhile = await slugs(engine)

    assert meanwhile == ["docs", building.aside]
    assert await slugs(engine) == ["docs", "new"]


async def test_of_two_imports_under_one_name_one_is_shown(engine: RetrievalEngine) -> None:
    """The other one is refused at its end, and leaves nothing."""
    await fill(engine)
    records = await exported(engine)
    together = [imported(engine, records) for _ in range(2)]
    outcomes = await asyncio.gather(*together, return_exceptions=True)

    assert sorted(type(one).__name__ for one in outcomes) == ["AlreadyExists", "NoneType"]
    assert await slugs(engine) == ["copy", "docs", "rich"]
    assert await exported(engine, "copy") == records


async def test_imports_beyond_the_bound_are_refused_at_once() -> None:
    """And taken again once one has ended."""
    engine = PlainEngine()
    imports = Imports(engine, TransferLimits(imports_at_once=1))
    async with imports.building("one", HEAD):
        with pytest.raises(ResourceExhausted) as caught:
            async with imports.building("two", HEAD):
                pass
    async with imports.building("two", HEAD):
        pass

    assert caught.value.reason == "IMPORTS_BUSY"
    assert await slugs(engine) == ["one", "two"]


async def test_what_waits_for_the_disk_is_bounded_in_bytes() -> None:
    """A document that would not fit beside those that wait is stored after them."""
    engine = PlainEngine()
    imports = Imports(engine, TransferLimits(changes_at_once=100, waiting_bytes=100))
    async with imports.building("new", HEAD) as building:
        for number in range(4):
            await building.add(upsert(f"{number}", ["eau"], workspace=building.aside), 60)
            stored = (await engine.describe_workspace(building.aside)).document_count
            assert stored >= number


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A running retriever with a workspace `docs`."""
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data")
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        await RetrieverClient(channel).workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )
        yield channel


async def test_a_workspace_goes_out_and_in_over_grpc(channel: grpc.aio.Channel) -> None:
    """What comes in is what went out; the answer counts it, and the list shows it alone."""
    client, transfers = RetrieverClient(channel), transfers_pb2_grpc.TransferServiceStub(channel)
    for number in range(40):
        await client.put(f"d{number}", ["eau", "feu"], [[1, 2, number], [3, 2, number]])
    records = await _exported(channel, "docs")
    answer = await transfers.ImportWorkspace(_sent("copy", records))
    listed = await client.workspaces.ListWorkspaces(workspaces_pb2.ListWorkspacesRequest())

    assert (answer.document_count, answer.passage_count, answer.vector_count) == (40, 80, 80)
    assert [one.slug for one in listed.workspaces] == ["copy", "docs"]
    assert await _exported(channel, "copy") == records


async def test_an_import_that_stalls_is_given_up() -> None:
    """It is told, and nothing of it is there."""
    engine, limits = PlainEngine(), TransferLimits(idle_s=0.05)
    await fill(engine)
    records = await exported(engine)
    serving = TransferServicer(engine, Imports(engine, limits), UploadLimits(), limits)

    async def stalling() -> AsyncIterator[transfers_pb2.ImportWorkspaceRequest]:
        for message in _sent("copy", records[:-1]):
            yield message
        await asyncio.Event().wait()

    with pytest.raises(Aborted) as caught:
        await serving.ImportWorkspace(stalling(), cast(Any, None))

    assert caught.value.reason == "IMPORT_STALLED"
    assert await slugs(engine) == ["rich"]


async def test_imports_name_a_workspace_that_may_be(channel: grpc.aio.Channel) -> None:
    """A slug that could be a path, or one of those aside, is refused, as is no header."""
    transfers = transfers_pb2_grpc.TransferServiceStub(channel)
    records = await _exported(channel, "docs")
    for slug in ("../docs", ASIDE, "", "A"):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await transfers.ImportWorkspace(_sent(slug, records))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(grpc.aio.AioRpcError) as headless:
        await transfers.ImportWorkspace(
            iter([transfers_pb2.ImportWorkspaceRequest(record=records[0])])
        )

    assert headless.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def _header(slug: str) -> transfers_pb2.ImportWorkspaceRequest:
    return transfers_pb2.ImportWorkspaceRequest(header=transfers_pb2.ImportHeader(workspace=slug))


def _sent(slug: str, records: list[bytes]) -> Iterator[transfers_pb2.ImportWorkspaceRequest]:
    yield _header(slug)
    for record in records:
        yield transfers_pb2.ImportWorkspaceRequest(record=record)


async def _exported(channel: grpc.aio.Channel, slug: str) -> list[bytes]:
    transfers = transfers_pb2_grpc.TransferServiceStub(channel)
    request = transfers_pb2.ExportWorkspaceRequest(workspace=slug)
    return [message.record async for message in transfers.ExportWorkspace(request)]
