"""Exports are bounded: in number, in how long they wait for a reader, and in what they hold."""

import asyncio
from typing import Any, cast

import pytest

from chassis.errors import Aborted, NotFound, ResourceExhausted
from justesse.retriever.v1 import transfers_pb2
from retriever_svc.servicer.transfers import TransferServicer
from retriever_svc.transfers.imports import Imports
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.wire.uploads import UploadLimits
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.transfers import exported, fill


class Reader:
    """Takes so many messages of a stream, and then none for ever."""

    def __init__(self, patience: int | None) -> None:
        self._patience = patience
        self.records: list[bytes] = []
        self.full = asyncio.Event()

    async def write(self, message: transfers_pb2.ExportWorkspaceResponse) -> None:
        """Takes a message if it wants one more."""
        if len(self.records) == self._patience:
            self.full.set()
            await asyncio.Event().wait()
        self.records.append(message.record)


async def servicer(**limits: Any) -> tuple[PlainEngine, TransferServicer]:
    """Returns a servicer over an engine with a workspace `rich`."""
    engine, bounds = PlainEngine(), TransferLimits(**limits)
    await fill(engine)
    return engine, TransferServicer(engine, Imports(engine, bounds), UploadLimits(), bounds)


async def export(servicer: TransferServicer, reader: Reader, workspace: str = "rich") -> None:
    """Exports to a reader."""
    request = transfers_pb2.ExportWorkspaceRequest(workspace=workspace)
    await servicer.ExportWorkspace(request, cast(Any, reader))


async def test_a_reader_that_takes_nothing_is_let_go() -> None:
    """So that no state of the store is held for it; the next reader is served."""
    engine, serving = await servicer(idle_s=0.05, exports_at_once=1)
    with pytest.raises(Aborted) as caught:
        await export(serving, Reader(3))
    reader = Reader(None)
    await export(serving, reader)

    assert caught.value.reason == "EXPORT_STALLED"
    assert reader.records == await exported(engine)


async def test_exports_beyond_the_bound_are_refused_at_once() -> None:
    """And served once one has ended, be it because its reader left."""
    _, serving = await servicer(exports_at_once=1)
    slow = Reader(2)
    first = asyncio.create_task(export(serving, slow))
    await slow.full.wait()
    with pytest.raises(ResourceExhausted) as caught:
        await export(serving, Reader(None))
    first.cancel()
    await asyncio.wait([first])
    reader = Reader(None)
    await export(serving, reader)

    assert caught.value.reason == "EXPORTS_BUSY"
    assert reader.records[:2] == slow.records


async def test_a_missing_workspace_is_told_before_anything_is_sent() -> None:
    """And takes no place for good."""
    _, serving = await servicer(exports_at_once=1)
    reader = Reader(None)
    for _ in range(2):
        with pytest.raises(NotFound):
            await export(serving, reader, "nowhere")

    assert reader.records == []
