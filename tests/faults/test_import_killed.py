"""A retriever that is killed while a workspace comes in shows nothing of it afterwards."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import grpc.aio
import pytest

from justesse.retriever.v1 import transfers_pb2, transfers_pb2_grpc, workspaces_pb2
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.connection import create_workspace

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

_PATIENCE_S = 60


async def test_a_killed_import_leaves_nothing_and_can_be_repeated(
    process: RetrieverProcess,
) -> None:
    """After the start nobody finds it, its rows go, and the same import succeeds."""
    process.start()
    async with grpc.aio.insecure_channel(process.address) as channel:
        client = RetrieverClient(channel)
        await create_workspace(client)
        for number in range(40):
            await client.put(f"d{number}", [f"eau {number}"], [[1, 2, number]])
        records = await _exported(channel)
        task = asyncio.create_task(_import(channel, records[:-1], asyncio.Event()))
        await _until(lambda: _documents_aside(process.data) > 5)
        process.kill()
        await asyncio.wait([task])
    process.start()
    async with grpc.aio.insecure_channel(process.address) as channel:
        client = RetrieverClient(channel)
        listed = await client.workspaces.ListWorkspaces(workspaces_pb2.ListWorkspacesRequest())
        await _until(lambda: _documents_aside(process.data) == 0)
        whole = asyncio.Event()
        whole.set()
        answer = await _import(channel, records, whole)

        assert [one.slug for one in listed.workspaces] == ["docs"]
        assert answer.document_count == 40
        assert await _exported(channel, "copy") == records


async def _import(
    channel: grpc.aio.Channel, records: list[bytes], more: asyncio.Event
) -> transfers_pb2.ImportWorkspaceResponse:
    async def parts() -> AsyncIterator[transfers_pb2.ImportWorkspaceRequest]:
        header = transfers_pb2.ImportHeader(workspace="copy")
        yield transfers_pb2.ImportWorkspaceRequest(header=header)
        for record in records:
            yield transfers_pb2.ImportWorkspaceRequest(record=record)
        await more.wait()

    return await transfers_pb2_grpc.TransferServiceStub(channel).ImportWorkspace(parts())


async def _exported(channel: grpc.aio.Channel, slug: str = "docs") -> list[bytes]:
    request = transfers_pb2.ExportWorkspaceRequest(workspace=slug)
    stub = transfers_pb2_grpc.TransferServiceStub(channel)
    return [message.record async for message in stub.ExportWorkspace(request)]


def _documents_aside(data: Path) -> int:
    with closing(sqlite3.connect(f"file:{data}/store.sqlite3?mode=ro", uri=True)) as store:
        counted = "SELECT sum(document_count) FROM workspaces WHERE slug LIKE '~%'"
        (count,) = store.execute(counted).fetchone()
    return int(count or 0)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - nobody tells what another process does
            await asyncio.sleep(0.01)
