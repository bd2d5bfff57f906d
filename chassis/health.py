"""The standard health service, with separate names for "alive" and "ready".

- `liveness`: SERVING as long as the process runs; a probe that restarts asks this.
- "" : the server as a whole, SERVING until the drain begins.
- each served service by its full name, as its owner sets it.
- `readiness`: SERVING while every service is; a probe that routes traffic asks this.

Any other name is NOT_FOUND.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.interception import ServicerContext

LIVENESS = "liveness"
READINESS = "readiness"
WHOLE_SERVER = ""


class Health:
    """What the process says about itself; to be used on the event loop only."""

    def __init__(self, services: Mapping[str, bool]) -> None:
        self._serving = dict(services)
        self._draining = False
        self._changed = asyncio.Event()

    def set_serving(self, service: str, serving: bool) -> None:
        """Says whether this service can answer now; without effect once the drain has begun."""
        if service not in self._serving:
            raise KeyError(f"no service {service!r} here; there are {sorted(self._serving)}")
        self._serving[service] = serving
        self._announce()

    def begin_drain(self) -> None:
        """Turns everything but liveness to NOT_SERVING, for good."""
        self._draining = True
        self._announce()

    def serving(self, name: str) -> bool | None:
        """Returns whether the name is SERVING, or None if nobody bears it."""
        if name == LIVENESS:
            return True
        if name == WHOLE_SERVER:
            return not self._draining
        if name == READINESS:
            return not self._draining and all(self._serving.values())
        known = self._serving.get(name)
        return None if known is None else known and not self._draining

    async def changes(self, name: str) -> AsyncIterator[bool | None]:
        """Yields the present state of the name, then each different one."""
        last: object = object()
        while True:
            changed = self._changed
            state = self.serving(name)
            if state is not last:
                last = state
                yield state
            await changed.wait()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class HealthServicer(health_pb2_grpc.HealthServicer):
    """grpc.health.v1.Health over a Health.

    The servicer of grpcio-health-checking forgets the other watchers of a name when one leaves.
    """

    def __init__(self, health: Health) -> None:
        self._health = health

    async def Check(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: ServicerContext
    ) -> health_pb2.HealthCheckResponse:
        """Answers with the present state."""
        serving = self._health.serving(request.service)
        if serving is None:
            await context.abort(
                grpc.StatusCode.NOT_FOUND, f"no service {request.service!r} is served here"
            )
        return health_pb2.HealthCheckResponse(status=_status(serving))

    async def Watch(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: ServicerContext
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Sends the present state, then each change; SERVICE_UNKNOWN for an unknown name."""
        async for serving in self._health.changes(request.service):
            yield health_pb2.HealthCheckResponse(status=_status(serving))


def _status(serving: bool | None) -> int:
    if serving is None:
        return health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
    if serving:
        return health_pb2.HealthCheckResponse.SERVING
    return health_pb2.HealthCheckResponse.NOT_SERVING
