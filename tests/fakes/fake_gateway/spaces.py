"""The part of the fake gateway that moves workspaces between spaces."""

from collections.abc import AsyncIterator

from chassis.interception import ServicerContext
from justesse.gateway.v1 import spaces_pb2, spaces_pb2_grpc
from tests.fakes.fake_gateway.state import SPACE, GatewayState, fail


class FakeSpaces(spaces_pb2_grpc.SpaceServiceServicer):
    """Tells the events of the state, and fails after them once if the state says so."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def ReembedWorkspace(
        self, request: spaces_pb2.ReembedWorkspaceRequest, context: ServicerContext
    ) -> AsyncIterator[spaces_pb2.ReembedWorkspaceResponse]:
        """Tells the plan alone for a dry run."""
        await self._state.enter("ReembedWorkspace", context)
        await self._state.documents_of(request.workspace, context)
        self._state.reembeddings.append(request)
        for event in self._state.reembedding_events[: 1 if request.dry_run else None]:
            yield event
            if self._state.reembedding_breaks and event.HasField("progress"):
                await fail(context, self._state.reembedding_breaks.pop(0))

    async def SwitchSpace(
        self, request: spaces_pb2.SwitchSpaceRequest, context: ServicerContext
    ) -> spaces_pb2.SwitchSpaceResponse:
        """Switches from the one space there is."""
        await self._state.enter("SwitchSpace", context)
        await self._state.documents_of(request.workspace, context)
        self._state.switched.append((request.space_id, request.require_complete))
        return spaces_pb2.SwitchSpaceResponse(previous_space_id=SPACE, awaiting_passage_count=2)

    async def DropSpace(
        self, request: spaces_pb2.DropSpaceRequest, context: ServicerContext
    ) -> spaces_pb2.DropSpaceResponse:
        """Drops three vectors of any space."""
        await self._state.enter("DropSpace", context)
        await self._state.documents_of(request.workspace, context)
        self._state.dropped.append((request.space_id, request.leave_waiting))
        return spaces_pb2.DropSpaceResponse(vector_count=3)
