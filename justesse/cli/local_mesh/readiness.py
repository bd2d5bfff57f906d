"""Waiting for a process to say that it is ready to serve."""

import asyncio
import contextlib

import grpc.aio
from grpc_health.v1 import health_pb2

READINESS = "readiness"
PAUSE_S = 0.1
# gRPC waits a second before it tries again to connect; a process that starts is worth an earlier
# look.
_OPTIONS = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 500)]


async def wait_until_ready(management_address: str) -> None:
    """Returns once the process says that it is ready; never, if it never does."""
    async with grpc.aio.insecure_channel(management_address, _OPTIONS) as channel:
        while True:
            # A process that goes away meanwhile is waited for again.
            with contextlib.suppress(grpc.aio.AioRpcError):
                if await _becomes_ready(channel):
                    return
            await asyncio.sleep(PAUSE_S)


async def _becomes_ready(channel: grpc.aio.Channel) -> bool:
    """Follows what the process says of itself until it is ready or says no more."""
    watch = channel.unary_stream(
        "/grpc.health.v1.Health/Watch",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    request = health_pb2.HealthCheckRequest(service=READINESS)
    async for answer in watch(request, wait_for_ready=True):
        if answer.status == health_pb2.HealthCheckResponse.SERVING:
            return True
    return False
