"""Health on the management port."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.health import LIVENESS, READINESS, Health
from chassis.server import RunningServer, ServerSettings, running_server
from tests.fakes.probe_service import PROBE, probe

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


def stub(channel: grpc.aio.Channel) -> Any:
    """Returns the stub of the health service."""
    return health_pb2_grpc.HealthStub(channel)


async def checked(server: RunningServer, name: str) -> int:
    """Asks the management port once."""
    async with grpc.aio.insecure_channel(server.management_address) as channel:
        answer = await stub(channel).Check(health_pb2.HealthCheckRequest(service=name))
        return int(answer.status)


async def test_every_name_has_its_own_answer() -> None:
    """A service that is not ready makes the process not ready, but keeps it alive."""
    async with running_server([probe(ready=False)], ServerSettings()) as server:
        assert await checked(server, LIVENESS) == SERVING
        assert await checked(server, "") == SERVING
        assert await checked(server, PROBE) == NOT_SERVING
        assert await checked(server, READINESS) == NOT_SERVING
        server.set_serving(PROBE, True)
        assert await checked(server, PROBE) == SERVING
        assert await checked(server, READINESS) == SERVING


async def test_an_unknown_name_is_not_found() -> None:
    """A probe with a typing error fails loudly."""
    async with running_server([probe()], ServerSettings()) as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await checked(server, "test.Prob")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert "test.Prob" in str(caught.value.details())


async def test_every_watcher_hears_of_each_change() -> None:
    """One watcher that leaves does not silence the others."""
    async with (
        running_server([probe(ready=False)], ServerSettings()) as server,
        grpc.aio.insecure_channel(server.management_address) as channel,
    ):
        request = health_pb2.HealthCheckRequest(service=PROBE)
        first, second = stub(channel).Watch(request), stub(channel).Watch(request)
        for watch in (first, second):
            assert (await watch.read()).status == NOT_SERVING
        first.cancel()
        server.set_serving(PROBE, True)
        assert (await second.read()).status == SERVING
        server.set_serving(PROBE, True)
        server.set_serving(PROBE, False)
        assert (await second.read()).status == NOT_SERVING


async def test_watching_an_unknown_name_stays_open() -> None:
    """The protocol wants SERVICE_UNKNOWN, not an error."""
    async with (
        running_server([probe()], ServerSettings()) as server,
        grpc.aio.insecure_channel(server.management_address) as channel,
    ):
        watch = stub(channel).Watch(health_pb2.HealthCheckRequest(service="nobody"))
        assert (await watch.read()).status == SERVICE_UNKNOWN
        assert not watch.done()


async def test_a_drain_turns_everything_but_liveness_for_good() -> None:
    """Traffic must go elsewhere, yet nobody should kill the process while calls finish."""
    async with running_server([probe()], ServerSettings()) as server:
        server.health.begin_drain()
        server.set_serving(PROBE, True)
        for name in ("", READINESS, PROBE):
            assert await checked(server, name) == NOT_SERVING, name
        assert await checked(server, LIVENESS) == SERVING


async def test_health_is_not_on_the_business_port() -> None:
    """Business ports serve business only."""
    async with (
        running_server([probe()], ServerSettings()) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub(channel).Check(health_pb2.HealthCheckRequest())
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_only_served_names_can_be_set() -> None:
    """A typing error in our own code shows at once."""
    health = Health({PROBE: True})
    with pytest.raises(KeyError, match=r"test\.Prob"):
        health.set_serving("test.Prob", False)


async def test_a_change_between_two_reads_is_not_lost() -> None:
    """A watcher that is slow sees the state that counts in the end."""
    health = Health({PROBE: True})
    changes = health.changes(PROBE)
    assert await anext(changes) is True
    upcoming = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    health.set_serving(PROBE, False)
    health.set_serving(PROBE, True)
    health.set_serving(PROBE, False)
    assert await upcoming is False
    await changes.aclose()  # type: ignore[attr-defined]
