"""The parts of the fake gateway that operators use."""

from chassis.errors import NotFound
from chassis.interception import ServicerContext
from justesse.gateway.v1 import mesh_pb2, mesh_pb2_grpc, switches_pb2, switches_pb2_grpc
from tests.fakes.fake_gateway.state import SPACE, UPDATE_SECONDS, GatewayState, fail


class FakeSwitches(switches_pb2_grpc.SwitchServiceServicer):
    """Keeps switches in memory."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    def _switch(self, key: str) -> switches_pb2.Switch:
        return switches_pb2.Switch(
            key=key,
            value=self._state.switches[key],
            default_value="true",
            description="Whether hits are reranked",
            origin=switches_pb2.SWITCH_ORIGIN_DATABASE,
            error=self._state.switch_error,
        )

    async def DescribeSwitches(
        self, request: switches_pb2.DescribeSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.DescribeSwitchesResponse:
        """Lists by key."""
        await self._state.enter("DescribeSwitches", context)
        response = switches_pb2.DescribeSwitchesResponse(
            switches=[self._switch(key) for key in sorted(self._state.switches)],
            refresh_error=self._state.refresh_error,
            rollouts=self._state.rollouts.values(),
            age_s=12.5,
        )
        response.refresh_time.seconds = UPDATE_SECONDS
        return response

    async def SetSwitch(
        self, request: switches_pb2.SetSwitchRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchResponse:
        """Refuses an unknown key."""
        await self._state.enter("SetSwitch", context)
        if request.key not in self._state.switches:
            await fail(context, NotFound(f"there is no switch {request.key!r}"))
        self._state.switches[request.key] = request.value
        return switches_pb2.SetSwitchResponse(switch=self._switch(request.key))

    async def RefreshSwitches(
        self, request: switches_pb2.RefreshSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.RefreshSwitchesResponse:
        """Answers like the list, without a time."""
        await self._state.enter("RefreshSwitches", context)
        return switches_pb2.RefreshSwitchesResponse(
            switches=[self._switch(key) for key in sorted(self._state.switches)],
            refresh_error=self._state.refresh_error,
        )

    async def ListSwitchOverrides(
        self, request: switches_pb2.ListSwitchOverridesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchOverridesResponse:
        """Lists by key."""
        await self._state.enter("ListSwitchOverrides", context)
        own = self._state.switch_overrides.get(request.workspace, {})
        return switches_pb2.ListSwitchOverridesResponse(
            overrides=[switches_pb2.SwitchOverride(key=k, value=v) for k, v in sorted(own.items())]
        )

    async def SetSwitchOverride(
        self, request: switches_pb2.SetSwitchOverrideRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchOverrideResponse:
        """Keeps what it is asked for."""
        await self._state.enter("SetSwitchOverride", context)
        self._state.switch_overrides.setdefault(request.workspace, {})[request.key] = request.value
        return switches_pb2.SetSwitchOverrideResponse(
            override=switches_pb2.SwitchOverride(key=request.key, value=request.value)
        )

    async def ClearSwitchOverride(
        self, request: switches_pb2.ClearSwitchOverrideRequest, context: ServicerContext
    ) -> switches_pb2.ClearSwitchOverrideResponse:
        """Says whether there was one."""
        await self._state.enter("ClearSwitchOverride", context)
        own = self._state.switch_overrides.get(request.workspace, {})
        cleared = own.pop(request.key, None) is not None
        return switches_pb2.ClearSwitchOverrideResponse(cleared=cleared)

    async def SetSwitchRollout(
        self, request: switches_pb2.SetSwitchRolloutRequest, context: ServicerContext
    ) -> switches_pb2.SetSwitchRolloutResponse:
        """Keeps what it is asked for."""
        await self._state.enter("SetSwitchRollout", context)
        rollout = switches_pb2.SwitchRollout(
            key=request.key, value=request.value, percent=request.percent
        )
        self._state.rollouts[request.key] = rollout
        return switches_pb2.SetSwitchRolloutResponse(rollout=rollout)

    async def ClearSwitchRollout(
        self, request: switches_pb2.ClearSwitchRolloutRequest, context: ServicerContext
    ) -> switches_pb2.ClearSwitchRolloutResponse:
        """Says whether there was one."""
        await self._state.enter("ClearSwitchRollout", context)
        cleared = self._state.rollouts.pop(request.key, None) is not None
        return switches_pb2.ClearSwitchRolloutResponse(cleared=cleared)

    async def ListSwitchChanges(
        self, request: switches_pb2.ListSwitchChangesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchChangesResponse:
        """Knows of one change, behind the gateway's back, and of a page after it."""
        await self._state.enter("ListSwitchChanges", context)
        change = switches_pb2.SwitchChange(
            actor="observed at refresh",
            kind=switches_pb2.SWITCH_CHANGE_KIND_SWITCH,
            key="rag_reranking_enabled",
            new_value="false",
        )
        change.change_time.seconds = UPDATE_SECONDS
        return switches_pb2.ListSwitchChangesResponse(changes=[change], next_page_token="1")


class FakeMesh(mesh_pb2_grpc.MeshServiceServicer):
    """Describes two services."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def DescribeMesh(
        self, request: mesh_pb2.DescribeMeshRequest, context: ServicerContext
    ) -> mesh_pb2.DescribeMeshResponse:
        """Says of the embedder what the test wants."""
        await self._state.enter("DescribeMesh", context)
        silent = self._state.embedder_health != mesh_pb2.SERVICE_HEALTH_SERVING
        return mesh_pb2.DescribeMeshResponse(
            services=[
                mesh_pb2.ServiceState(
                    name="embedder",
                    address="127.0.0.1:50051",
                    health=self._state.embedder_health,
                    detail="connection refused" if silent else "",
                ),
                mesh_pb2.ServiceState(
                    name="retriever",
                    address="127.0.0.1:50052",
                    health=mesh_pb2.SERVICE_HEALTH_SERVING,
                    latency_ms=0.5,
                ),
            ],
            providers=[
                mesh_pb2.ProviderSummary(
                    name="embedded",
                    model="multilingual-e5-small",
                    space_id=SPACE,
                    state="available",
                )
            ],
            version="0.1.0",
        )
