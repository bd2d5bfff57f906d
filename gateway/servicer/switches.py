"""Switches over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.switches.editing import SwitchEditing
from gateway.switches.switching import Switching
from gateway.switches.values import written
from gateway.wire.switches import (
    to_changes_response,
    to_describe_response,
    to_overrides,
    to_refresh_response,
    to_rollout,
    to_switch,
)
from justesse.gateway.v1 import switches_pb2, switches_pb2_grpc


class SwitchServicer(switches_pb2_grpc.SwitchServiceServicer):
    """Serves justesse.gateway.v1.SwitchService."""

    def __init__(self, switching: Switching, editing: SwitchEditing) -> None:
        self._switching = switching
        self._editing = editing

    async def DescribeSwitches(
        self, request: switches_pb2.DescribeSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.DescribeSwitchesResponse:
        """Lists the values in force and where they come from."""
        return to_describe_response(self._switching.state())

    async def SetSwitch(
        self, request: switches_pb2.SetSwitchRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchResponse:
        """Writes one value to the database and refreshes."""
        state = await self._editing.set(request.key, request.value)
        return switches_pb2.SetSwitchResponse(switch=to_switch(state))

    async def RefreshSwitches(
        self, request: switches_pb2.RefreshSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.RefreshSwitchesResponse:
        """Reads the table at once, here and on every other gateway."""
        return to_refresh_response(await self._switching.refresh_everywhere())

    async def ListSwitchOverrides(
        self, request: switches_pb2.ListSwitchOverridesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchOverridesResponse:
        """Lists the overrides of a workspace."""
        return to_overrides(await self._editing.overrides(request.workspace))

    async def SetSwitchOverride(
        self, request: switches_pb2.SetSwitchOverrideRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchOverrideResponse:
        """Gives a switch another value in one workspace."""
        value = await self._editing.set_override(request.workspace, request.key, request.value)
        override = switches_pb2.SwitchOverride(key=request.key, value=written(value))
        return switches_pb2.SetSwitchOverrideResponse(override=override)

    async def ClearSwitchOverride(
        self, request: switches_pb2.ClearSwitchOverrideRequest, context: ServicerContext
    ) -> switches_pb2.ClearSwitchOverrideResponse:
        """Ends an override."""
        cleared = await self._editing.clear_override(request.workspace, request.key)
        return switches_pb2.ClearSwitchOverrideResponse(cleared=cleared)

    async def SetSwitchRollout(
        self, request: switches_pb2.SetSwitchRolloutRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchRolloutResponse:
        """Gives a switch another value for a share of the queries."""
        rollout = await self._editing.set_rollout(request.key, request.value, request.percent)
        return switches_pb2.SetSwitchRolloutResponse(rollout=to_rollout(rollout))

    async def ClearSwitchRollout(
        self, request: switches_pb2.ClearSwitchRolloutRequest, context: ServicerContext
    ) -> switches_pb2.ClearSwitchRolloutResponse:
        """Ends a rollout."""
        cleared = await self._editing.clear_rollout(request.key)
        return switches_pb2.ClearSwitchRolloutResponse(cleared=cleared)

    async def ListSwitchChanges(
        self, request: switches_pb2.ListSwitchChangesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchChangesResponse:
        """Lists who changed what, the latest first."""
        page = await self._editing.changes(request.page_size, request.page_token)
        return to_changes_response(page)
