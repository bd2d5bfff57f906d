"""Serves TransferService."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import grpc.aio

from chassis.errors import Aborted, InvalidArgument
from justesse.retriever.v1 import transfers_pb2, transfers_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.transfers.imports import Imports
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.transfers.turns import Turns
from retriever_svc.wire.transfers.exported_records import exported_records
from retriever_svc.wire.transfers.imported_records import ImportedRecords
from retriever_svc.wire.uploads import UploadLimits
from retriever_svc.wire.workspaces import checked_slug


class TransferServicer(transfers_pb2_grpc.TransferServiceServicer):
    """Copies workspaces out of the engine and into it."""

    def __init__(
        self,
        engine: RetrievalEngine,
        imports: Imports,
        uploads: UploadLimits,
        limits: TransferLimits,
    ) -> None:
        self._engine = engine
        self._imports = imports
        self._uploads = uploads
        self._idle_s = limits.idle_s
        self._exports = Turns(limits.exports_at_once, "exports")

    async def ExportWorkspace(  # type: ignore[override]  # it writes by itself
        self,
        request: transfers_pb2.ExportWorkspaceRequest,
        context: grpc.aio.ServicerContext[
            transfers_pb2.ExportWorkspaceRequest, transfers_pb2.ExportWorkspaceResponse
        ],
    ) -> None:
        with self._exports.taken():
            async with (
                self._engine.copy_workspace(request.workspace) as copy,
                aclosing(exported_records(copy)) as records,  # type: ignore[type-var]
            ):
                async for record in records:
                    await self._write(context, record)

    async def ImportWorkspace(
        self,
        request_iterator: AsyncIterator[transfers_pb2.ImportWorkspaceRequest],
        context: grpc.aio.ServicerContext[
            transfers_pb2.ImportWorkspaceRequest, transfers_pb2.ImportWorkspaceResponse
        ],
    ) -> transfers_pb2.ImportWorkspaceResponse:
        messages = self._in_time(request_iterator)
        first = await anext(messages, None)
        if first is None or first.WhichOneof("part") != "header":
            raise InvalidArgument("the first message must hold the header", field="header")
        slug = checked_slug(first.header.workspace, "header.workspace")
        records = ImportedRecords(_records(messages), self._uploads)
        head = await records.head()
        async with (
            self._imports.building(slug, head) as building,
            aclosing(records.documents(building.aside)) as documents,  # type: ignore[type-var]
        ):
            async for document, size in documents:
                await building.add(document, size)
        came = records.digest
        return transfers_pb2.ImportWorkspaceResponse(
            document_count=came.documents,
            passage_count=came.passages,
            vector_count=came.vectors,
        )

    async def _write(
        self,
        context: grpc.aio.ServicerContext[
            transfers_pb2.ExportWorkspaceRequest, transfers_pb2.ExportWorkspaceResponse
        ],
        record: bytes,
    ) -> None:
        try:
            async with asyncio.timeout(self._idle_s):
                await context.write(transfers_pb2.ExportWorkspaceResponse(record=record))
        except TimeoutError as error:
            raise Aborted(
                f"the reader of the export took nothing for {self._idle_s:g} s; begin again, and "
                "read steadily",
                reason="EXPORT_STALLED",
            ) from error

    async def _in_time(
        self, messages: AsyncIterator[transfers_pb2.ImportWorkspaceRequest]
    ) -> AsyncIterator[transfers_pb2.ImportWorkspaceRequest]:
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    message = await anext(messages, None)
            except TimeoutError as error:
                raise Aborted(
                    f"nothing came of the import for {self._idle_s:g} s; begin again, and send "
                    "steadily",
                    reason="IMPORT_STALLED",
                ) from error
            if message is None:
                return
            yield message


async def _records(
    messages: AsyncIterator[transfers_pb2.ImportWorkspaceRequest],
) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.WhichOneof("part") != "record":
            raise InvalidArgument(
                "every message after the first must hold a record", field="record"
            )
        yield message.record
