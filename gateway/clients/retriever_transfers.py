"""Workspaces out of the retriever and into it, record by record, over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import grpc

from gateway.clients.opened_stream import OpenedStream
from gateway.clients.service_errors import errors_of
from gateway.workspaces import ImportedCounts
from justesse.retriever.v1 import transfers_pb2, transfers_pb2_grpc


class RetrieverTransfers:
    """Implements the `Transfers` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._transfers = transfers_pb2_grpc.TransferServiceStub(channel)

    async def export_workspace(self, workspace: str) -> AsyncGenerator[bytes, None]:
        """Yields records as they come; closing the generator cancels the call."""
        call = self._transfers.ExportWorkspace(
            transfers_pb2.ExportWorkspaceRequest(workspace=workspace)
        )
        try:
            with errors_of("retriever"):
                async for response in call:
                    yield response.record
        finally:
            call.cancel()

    async def import_workspace(
        self, workspace: str, records: AsyncIterator[bytes]
    ) -> ImportedCounts:
        """Makes a workspace of records, read only as fast as the retriever takes them.

        An error of `records` ends the call, which leaves nothing, and is raised as it is.
        """
        header = transfers_pb2.ImportHeader(workspace=workspace)
        opening = transfers_pb2.ImportWorkspaceRequest(header=header)
        stream = OpenedStream(opening, _requests(records))
        call = self._transfers.ImportWorkspace(stream)
        try:
            with errors_of("retriever"):
                response = await call
        except asyncio.CancelledError:
            if stream.failure is not None:
                raise stream.failure from None
            raise
        finally:
            call.cancel()
        return ImportedCounts(
            response.document_count, response.passage_count, response.vector_count
        )


async def _requests(
    records: AsyncIterator[bytes],
) -> AsyncIterator[transfers_pb2.ImportWorkspaceRequest]:
    async for record in records:
        yield transfers_pb2.ImportWorkspaceRequest(record=record)
