"""Fixtures of the tests of keys and grants."""

from __future__ import annotations

import grpc.aio
import httpx
import pytest

from tests.fakes.gateway_services.doors import Doors
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


@pytest.fixture
async def doors(mesh: MeshOfFakes, channel: grpc.aio.Channel, http: httpx.AsyncClient) -> Doors:
    """Doors that need keys."""
    mesh.key_store.give(EVERYTHING_GRANT)
    await mesh.key_ring.refresh()
    return Doors(mesh, channel, http)
