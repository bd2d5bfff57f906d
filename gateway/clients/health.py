"""Health of the other services over gRPC."""

from __future__ import annotations

from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway.clients.service_errors import errors_of

READINESS = "readiness"


class HealthClient:
    """Implements the `HealthCheck` port over a channel to a service's management port."""

    def __init__(self, service: str, channel: grpc.aio.Channel) -> None:
        self._service = service
        self._stub: Any = health_pb2_grpc.HealthStub(channel)  # its stubs name no methods

    async def serving(self, *, timeout: float | None = None) -> bool:
        """Tells whether the service says it is ready; Unavailable where it does not answer."""
        request = health_pb2.HealthCheckRequest(service=READINESS)
        with errors_of(self._service):
            response = await self._stub.Check(request, timeout=timeout)
        return bool(response.status == health_pb2.HealthCheckResponse.SERVING)
