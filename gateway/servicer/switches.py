"""Switches over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.switches.board import SwitchBoard
from gateway.wire.switches import to_list_response, to_refresh_response, to_switch
from justesse.gateway.v1 import switches_pb2, switches_pb2_grpc


class SwitchServicer(switches_pb2_grpc.SwitchServiceServicer):
    """Serves justesse.gateway.v1.SwitchService."""

    def __init__(self, switches: SwitchBoard) -> None:
        self._switches = switches

    async def ListSwitches(
        self, request: switches_pb2.ListSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchesResponse:
        """Lists the values in force and where they come from."""
        return to_list_response(self._switches.state())

    async def SetSwitch(
        self, request: switches_pb2.SetSwitchRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchResponse:
        """Writes one value to the database and refreshes."""
        state = await self._switches.set(request.key, request.value)
        return switches_pb2.SetSwitchResponse(switch=to_switch(state))

    async def RefreshSwitches(
        self, request: switches_pb2.RefreshSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.RefreshSwitchesResponse:
        """Reads the table at once."""
        board = await self._switches.refresh()
        return to_refresh_response(board)
