"""The part of the fake gateway that takes workspaces out and in."""

from collections.abc import AsyncIterator

from chassis.errors import InvalidArgument
from chassis.interception import ServicerContext
from justesse.gateway.v1 import transfers_pb2, transfers_pb2_grpc
from tests.fakes.fake_gateway.state import GatewayState, fail


class FakeTransfers(transfers_pb2_grpc.TransferServiceServicer):
    """Sends the archive of the state, and keeps archives that come."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def ExportWorkspace(
        self, request: transfers_pb2.ExportWorkspaceRequest, context: ServicerContext
    ) -> AsyncIterator[transfers_pb2.ExportWorkspaceResponse]:
        """Breaks off after the first part if the state says so."""
        await self._state.enter("ExportWorkspace", context)
        await self._state.documents_of(request.workspace, context)
        for part in self._state.archive:
            yield transfers_pb2.ExportWorkspaceResponse(content=part)
            if self._state.archive_breaks:
                await fail(context, self._state.archive_breaks.pop(0))

    async def ImportWorkspace(
        self,
        request_iterator: AsyncIterator[transfers_pb2.ImportWorkspaceRequest],
        context: ServicerContext,
    ) -> transfers_pb2.ImportWorkspaceResponse:
        """Counts one document, and one of everything else."""
        await self._state.enter("ImportWorkspace", context)
        messages = [message async for message in request_iterator]
        slug = messages[0].header.workspace
        content = b"".join(message.content for message in messages[1:])
        if content != b"".join(self._state.archive):
            await fail(context, InvalidArgument("the archive is cut off", reason="ARCHIVE_DAMAGED"))
        self._state.workspaces[slug] = {}
        self._state.imports[slug] = content
        return transfers_pb2.ImportWorkspaceResponse(
            document_count=1,
            passage_count=2,
            vector_count=3,
            glossary_entry_count=4,
            switch_override_count=1,
        )
