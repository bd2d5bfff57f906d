"""Archives of workspaces over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from operator import methodcaller

from chassis.errors import InvalidArgument
from chassis.interception import ServicerContext
from gateway.archives.archives import Archives
from gateway.archives.frames import pieces
from gateway.pace import Pace, paced
from justesse.gateway.v1 import transfers_pb2, transfers_pb2_grpc


class TransferServicer(transfers_pb2_grpc.TransferServiceServicer):
    """Serves justesse.gateway.v1.TransferService."""

    def __init__(self, archives: Archives, pace: Pace | None = None) -> None:
        self._archives = archives
        self._pace = pace

    async def ExportWorkspace(
        self, request: transfers_pb2.ExportWorkspaceRequest, context: ServicerContext
    ) -> AsyncIterator[transfers_pb2.ExportWorkspaceResponse]:
        """Sends an archive, for as long as the caller listens."""
        async with aclosing(self._archives.export(request.workspace)) as archive:
            async for part in archive:
                for piece in pieces(part):
                    yield transfers_pb2.ExportWorkspaceResponse(content=piece)

    async def ImportWorkspace(
        self,
        request_iterator: AsyncIterator[transfers_pb2.ImportWorkspaceRequest],
        context: ServicerContext,
    ) -> transfers_pb2.ImportWorkspaceResponse:
        """Makes a workspace of an archive."""
        messages = paced(request_iterator, methodcaller("ByteSize"), self._pace)
        first = await anext(messages, None)
        if first is None or first.WhichOneof("part") != "header":
            raise InvalidArgument("the first message must hold the header", field="header")
        report = await self._archives.import_as(first.header.workspace, _content(messages))
        return transfers_pb2.ImportWorkspaceResponse(
            document_count=report.document_count,
            passage_count=report.passage_count,
            vector_count=report.vector_count,
            glossary_entry_count=report.glossary_entry_count,
            switch_override_count=report.switch_override_count,
        )


async def _content(
    messages: AsyncIterator[transfers_pb2.ImportWorkspaceRequest],
) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.WhichOneof("part") != "content":
            raise InvalidArgument(
                "every message after the first must hold content", field="content"
            )
        yield message.content
