"""Fixtures of the gateway's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import httpx
import pytest

from chassis.metrics import Metrics
from gateway.http.app import http_door
from tests.fakes.gateway_services.grpc_door import grpc_door
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.switch_database import SwitchDatabase


@pytest.fixture
def database(tmp_path: Path) -> SwitchDatabase:
    """A database that is not there yet, in a folder that is not there either."""
    return SwitchDatabase(tmp_path / "data" / "gateway.sqlite")


@pytest.fixture
def mesh(database: SwitchDatabase) -> MeshOfFakes:
    """The application over fakes."""
    return MeshOfFakes(database)


@pytest.fixture
async def http(mesh: MeshOfFakes) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the HTTP door."""
    await mesh.key_ring.refresh()
    transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as client:
        yield client


@pytest.fixture
async def channel(mesh: MeshOfFakes) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the gateway's contract."""
    async with grpc_door(mesh) as opened:
        yield opened
