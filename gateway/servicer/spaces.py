"""Spaces of workspaces over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from chassis.interception import ServicerContext
from gateway.space_work import SpaceWork
from gateway.wire.spaces import reembedding_request_from, to_reembedding_response
from justesse.gateway.v1 import spaces_pb2, spaces_pb2_grpc


class SpaceServicer(spaces_pb2_grpc.SpaceServiceServicer):
    """Serves justesse.gateway.v1.SpaceService."""

    def __init__(self, work: SpaceWork) -> None:
        self._work = work

    async def ReembedWorkspace(
        self, request: spaces_pb2.ReembedWorkspaceRequest, context: ServicerContext
    ) -> AsyncIterator[spaces_pb2.ReembedWorkspaceResponse]:
        """Embeds a workspace again, for as long as the caller listens."""
        async with aclosing(self._work.reembed(reembedding_request_from(request))) as events:
            async for event in events:
                yield to_reembedding_response(event)

    async def SwitchSpace(
        self, request: spaces_pb2.SwitchSpaceRequest, context: ServicerContext
    ) -> spaces_pb2.SwitchSpaceResponse:
        """Makes a space the preferred one."""
        switch = await self._work.switch(
            request.workspace, request.space_id, require_complete=request.require_complete
        )
        return spaces_pb2.SwitchSpaceResponse(
            previous_space_id=switch.previous_space_id,
            awaiting_passage_count=switch.awaiting_passage_count,
        )

    async def DropSpace(
        self, request: spaces_pb2.DropSpaceRequest, context: ServicerContext
    ) -> spaces_pb2.DropSpaceResponse:
        """Deletes the vectors of a space."""
        drop = await self._work.drop(
            request.workspace, request.space_id, leave_waiting=request.leave_waiting
        )
        return spaces_pb2.DropSpaceResponse(vector_count=drop.vector_count)
