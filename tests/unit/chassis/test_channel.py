"""Channels: retries, keep-alive, what they carry."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
import grpc.aio
import pytest

from chassis.channel import ChannelSettings, channel_options, open_channel, service_config
from chassis.errors import NotFound, ResourceExhausted, Unavailable
from chassis.server import ServerSettings, running_server, server_options
from tests.fakes.probe_service import UNARY, UNARY_STREAM, call_all_kinds, probe


class Failing:
    """Fails that many times, then echoes; counts the calls it gets."""

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.left = times
        self.calls = 0
        self.error = error or Unavailable("still starting")

    async def __call__(self, request: bytes, context: Any) -> bytes:
        self.calls += 1
        if self.left > 0:
            self.left -= 1
            raise self.error
        return request


def test_the_service_config_names_only_the_idempotent_methods() -> None:
    """Round robin for all; retries for the named methods, throttled."""
    config = json.loads(service_config(["a.v1.B/C", "/a.v1.B/D"], ChannelSettings()))
    assert config["loadBalancingConfig"] == [{"round_robin": {}}]
    (methods,) = config["methodConfig"]
    assert methods["name"] == [
        {"service": "a.v1.B", "method": "C"},
        {"service": "a.v1.B", "method": "D"},
    ]
    assert methods["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert config["retryThrottling"] == {"maxTokens": 100, "tokenRatio": 0.1}
    assert set(json.loads(service_config([], ChannelSettings()))) == {"loadBalancingConfig"}


@pytest.mark.parametrize("wrong", ["B", "a.B.C", "a/b/c", "a.B/", ""])
def test_a_method_written_wrongly_is_refused(wrong: str) -> None:
    """Otherwise it would silently never be retried."""
    with pytest.raises(ValueError, match=r"package\.Service/Method"):
        service_config([wrong], ChannelSettings())


@pytest.mark.parametrize("methods", [[], [UNARY], [UNARY, UNARY_STREAM]])
async def test_the_service_config_is_accepted_by_grpc(methods: list[str]) -> None:
    """A config that gRPC cannot read fails every call with INVALID_ARGUMENT."""
    async with (
        running_server([probe()], ServerSettings()) as server,
        open_channel(server.address, idempotent_methods=methods) as channel,
    ):
        assert await call_all_kinds(channel, UNARY) == [b"1"]


async def test_an_idempotent_method_is_tried_three_times() -> None:
    """Two failures are not seen by the caller, the third is."""
    failing = Failing(2)
    async with (
        running_server([probe({UNARY: failing})], ServerSettings()) as server,
        open_channel(server.address, idempotent_methods=[UNARY]) as channel,
    ):
        assert await call_all_kinds(channel, UNARY, timeout=10) == [b"1"]
        assert failing.calls == 3
        failing.left = 99
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY, timeout=10)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert failing.calls == 6


async def test_other_methods_are_never_tried_again() -> None:
    """What might take effect twice is sent once."""
    failing = Failing(2)
    async with (
        running_server([probe({UNARY: failing})], ServerSettings()) as server,
        open_channel(server.address, idempotent_methods=[UNARY_STREAM]) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert failing.calls == 1


@pytest.mark.parametrize("error", [NotFound("gone"), ResourceExhausted("full"), ValueError("bug")])
async def test_only_unavailable_is_tried_again(error: Exception) -> None:
    """Another try cures nothing else."""
    failing = Failing(1, error)
    async with (
        running_server([probe({UNARY: failing})], ServerSettings()) as server,
        open_channel(server.address, idempotent_methods=[UNARY]) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError):
            await call_all_kinds(channel, UNARY)
    assert failing.calls == 1


async def test_retries_stop_in_an_outage() -> None:
    """The throttle keeps attempts near the number of calls when nothing succeeds."""
    failing = Failing(10**6)
    calls = 200
    async with (
        running_server([probe({UNARY: failing})], ServerSettings()) as server,
        open_channel(server.address, idempotent_methods=[UNARY]) as channel,
    ):
        outcomes = await asyncio.gather(
            *(call_all_kinds(channel, UNARY, timeout=60) for _ in range(calls)),
            return_exceptions=True,
        )
    assert all(isinstance(outcome, grpc.aio.AioRpcError) for outcome in outcomes)
    # The first calls are tried again, until half of the hundred tokens are gone.
    assert calls < failing.calls <= calls + 50


async def test_channels_to_the_same_target_share_no_connection() -> None:
    """So that closing or exhausting one leaves the other alone."""

    async def peer(request: bytes, context: Any) -> bytes:
        return str(context.peer()).encode()

    async with (
        running_server([probe({UNARY: peer})], ServerSettings()) as server,
        open_channel(server.address) as stays,
    ):
        async with open_channel(server.address) as goes:
            first = await call_all_kinds(goes, UNARY)
            second = await call_all_kinds(stays, UNARY)
            assert first != second
        assert await call_all_kinds(stays, UNARY) == second


async def test_calls_go_to_all_servers_in_turn() -> None:
    """Round robin, so that a second replica takes its half."""
    reached: list[str] = []

    def named(name: str) -> Any:
        async def note(request: bytes, context: Any) -> bytes:
            reached.append(name)
            return b""

        return probe({UNARY: note})

    async with (
        running_server([named("first")], ServerSettings()) as first,
        running_server([named("second")], ServerSettings()) as second,
        open_channel(f"ipv4:{first.address},{second.address}") as channel,
    ):
        # A server takes its turns once its connection stands.
        for _ in range(1000):
            await call_all_kinds(channel, UNARY, wait_for_ready=True)
            if len(set(reached)) == 2:
                break
        reached.clear()
        for _ in range(10):
            await call_all_kinds(channel, UNARY)
    assert reached.count("first") == reached.count("second") == 5


async def test_a_proxy_in_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls inside the mesh go straight to their target."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    async with (
        running_server([probe()], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        assert await call_all_kinds(channel, UNARY, timeout=10) == [b"1"]


async def test_a_channel_finds_a_restarted_server_again() -> None:
    """The pause between connects stays short, so a restart is not an outage."""
    async with running_server([probe()], ServerSettings()) as server:
        address = server.address
        channel = open_channel(address)
        assert await call_all_kinds(channel, UNARY) == [b"1"]
    port = int(address.rpartition(":")[2])
    again = ServerSettings(port=port, management_port=0, metrics_port=0)
    async with channel, running_server([probe()], again):
        assert await call_all_kinds(channel, UNARY, timeout=20, wait_for_ready=True) == [b"1"]


def test_pings_more_often_than_servers_accept_are_refused() -> None:
    """The keep-alive pair is one decision: the server drops clients that ping every few seconds."""
    with pytest.raises(ValueError, match="greater than or equal to 20"):
        ChannelSettings(keepalive_time_s=5)


def test_servers_accept_the_pings_that_channels_send() -> None:
    """Also on idle connections; a server that finds them too many cuts the connection."""
    sent = dict(channel_options(ChannelSettings(), "{}"))
    accepted = dict(server_options(ServerSettings()))
    least_ms = accepted["grpc.http2.min_recv_ping_interval_without_data_ms"]
    assert sent["grpc.keepalive_time_ms"] == 30_000 > least_ms
    assert sent["grpc.keepalive_timeout_ms"] == 10_000
    for side in (sent, accepted):
        assert side["grpc.keepalive_permit_without_calls"] == 1
    assert sent["grpc.http2.max_pings_without_data"] == 0
