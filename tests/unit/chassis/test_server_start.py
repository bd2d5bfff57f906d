"""Starting a server: where it may listen, what it shows, what it refuses."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from pydantic import ValidationError

from chassis.binding import is_loopback, joined, require_trusted_host
from chassis.channel import ChannelSettings, open_channel
from chassis.metrics import Metrics
from chassis.server import ServerSettings, StartError, running_server, surroundings
from tests.fakes.probe_service import PROBE, UNARY, call_all_kinds, echo, probe, unary


async def reflected_names(address: str) -> set[str]:
    """Asks by reflection which services there are."""
    async with grpc.aio.insecure_channel(address) as channel:
        untyped: Any = channel
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(untyped)
        call = stub.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        answer = await call.read()
        await call.done_writing()
        return {service.name for service in answer.list_services_response.service}


async def test_free_ports_are_found_and_told() -> None:
    """Port 0 gives three ports, all different, all answering."""
    async with (
        running_server([probe()], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        assert await call_all_kinds(channel, UNARY) == [b"1"]
        ports = {
            int(server.address.rpartition(":")[2]),
            int(server.management_address.rpartition(":")[2]),
            server.metrics_port,
        }
        assert len(ports) == 3
        assert 0 not in ports


async def test_reflection_lists_the_services_unless_it_is_switched_off() -> None:
    """A generic client finds the services on the business port."""
    async with running_server([probe()], ServerSettings()) as server:
        assert PROBE in await reflected_names(server.address)
    async with running_server([probe()], ServerSettings(reflection=False)) as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reflected_names(server.address)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org"])
def test_other_machines_are_not_served_without_encryption(host: str) -> None:
    """The refusal says why, and which setting allows it."""
    with pytest.raises(StartError, match="INSECURE=true") as caught:
        require_trusted_host(host, insecure=False)
    assert host in str(caught.value)
    assert caught.value.exit_code == 78
    require_trusted_host(host, insecure=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_permission(host: str) -> None:
    """Processes of the same machine are trusted."""
    assert is_loopback(host)
    require_trusted_host(host, insecure=False)


async def test_a_server_refuses_an_untrusted_host_before_it_listens() -> None:
    """The rule holds for the server as a whole."""
    with pytest.raises(StartError, match="refusing to listen"):
        async with running_server([probe()], ServerSettings(host="0.0.0.0")):
            pytest.fail("it listens")
    async with running_server([probe()], ServerSettings(host="0.0.0.0", insecure=True)) as server:
        assert server.address.startswith("0.0.0.0:")


@pytest.mark.parametrize(
    ("setting", "purpose"),
    [("port", "business"), ("management_port", "health"), ("metrics_port", "metrics")],
)
async def test_a_port_in_use_is_named(setting: str, purpose: str) -> None:
    """The message says which of the three ports is taken, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports: dict[str, Any] = {"management_port": 0, "metrics_port": 0, setting: port}
        with pytest.raises(StartError) as caught:
            async with running_server([probe()], ServerSettings(**ports)):
                pytest.fail("it listens")
    assert f"127.0.0.1:{port} ({purpose}): Address already in use" in str(caught.value)
    assert "choose another" in str(caught.value)


async def test_two_servers_never_share_a_port() -> None:
    """The second one fails instead of taking half of the calls."""
    async with running_server([probe()], ServerSettings()) as server:
        port = int(server.address.rpartition(":")[2])
        same = ServerSettings(port=port, management_port=0, metrics_port=0)
        with pytest.raises(StartError, match="already in use"):
            async with running_server([probe()], same):
                pytest.fail("it listens")


async def test_a_failed_start_leaves_nothing_listening() -> None:
    """The metrics port, bound first, is free again after a later failure."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    bad = ServerSettings(host="192.0.2.1", insecure=True, port=port, metrics_port=port)
    with pytest.raises(StartError, match=r"192\.0\.2\.1"):
        async with running_server([probe()], bad):
            pytest.fail("it listens")
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_the_other_ports_follow_the_business_port() -> None:
    """Management and metrics lie 1000 and 2000 above, unless given; 0 stays 0."""
    settings = ServerSettings(port=50051)
    assert (settings.management_port, settings.metrics_port) == (51051, 52051)
    assert ServerSettings(port=50051, metrics_port=9464).metrics_port == 9464
    assert ServerSettings().management_port == 0
    for wrong in ({"port": -1}, {"port": 65536}, {"port": 65000}):
        with pytest.raises(ValidationError):
            ServerSettings(**wrong)  # type: ignore[arg-type]


def test_addresses_of_ipv6_have_brackets() -> None:
    """The address can be dialled as it is printed."""
    assert joined("::1", 5) == "[::1]:5"
    assert joined("127.0.0.1", 5) == "127.0.0.1:5"


async def test_messages_up_to_the_limit_pass_and_larger_ones_are_refused_on_both_ends() -> None:
    """More than gRPC's own 4 MiB passes; beyond the limit the status says so."""
    limit = 6 * 2**20
    settings = ServerSettings(max_message_bytes=limit)
    channel_settings = ChannelSettings(max_message_bytes=limit)
    async with running_server([probe()], settings) as server:
        async with open_channel(server.address, settings=channel_settings) as channel:
            call = unary(channel)
            large = bytes(5 * 2**20)
            assert await call(large, timeout=30) == large
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(bytes(limit + 1), timeout=30)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        async with grpc.aio.insecure_channel(
            server.address, options=[("grpc.max_send_message_length", -1)]
        ) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await unary(channel)(bytes(limit + 1), timeout=30)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_connection_ends_with_its_age_and_its_calls_do_not() -> None:
    """The call in flight finishes; the next one comes over a new connection."""
    settings = ServerSettings(max_connection_age_s=0.1)

    async def slow(request: bytes, context: Any) -> bytes:
        await asyncio.sleep(0.4)
        return str(context.peer()).encode()

    async with (
        running_server([probe({UNARY: slow})], settings) as server,
        open_channel(server.address) as channel,
    ):
        first = await call_all_kinds(channel, UNARY, timeout=20)
        assert await call_all_kinds(channel, UNARY, timeout=20) != first


def test_there_is_one_list_of_concerns() -> None:
    """Five concerns, each present once."""
    assert len(surroundings([probe({UNARY: echo})], ServerSettings(), Metrics())) == 5
