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

    async def ListSwitches(
        self, request: switches_pb2.ListSwitchesRequest, context: ServicerContext
    ) -> switches_pb2.ListSwitchesResponse:
        """Lists by key."""
        await self._state.enter("ListSwitches", context)
        response = switches_pb2.ListSwitchesResponse(
            switches=[self._switch(key) for key in sorted(self._state.switches)],
            refresh_error=self._state.refresh_error,
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
