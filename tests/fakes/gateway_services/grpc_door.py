"""The gateway's contract over gRPC, on a real server at a free port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import grpc.aio
import pytest

from chassis.error_mapping import service_error_from
from chassis.errors import ServiceError
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.servicer.access import AccessGuard
from gateway.servicer.served import served_services
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


@asynccontextmanager
async def grpc_door(mesh: MeshOfFakes) -> AsyncIterator[grpc.aio.Channel]:
    """Serves the application over fakes; yields a plain channel to it."""
    settings = ServerSettings(drain_grace_s=0.0)
    await mesh.key_ring.refresh()
    application = mesh.application()
    services = served_services(application)
    guard = AccessGuard(application.access)
    async with (
        running_server(services, settings, metrics=Metrics(), guard=guard) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        yield channel


async def refusal(call: Awaitable[object]) -> tuple[str, ServiceError]:
    """Returns the status name and the error of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refused.value.code().name, service_error_from(refused.value)
