"""Durations of calls and the endpoint that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.errors import NotFound
from chassis.metrics import Metrics, process_metrics
from chassis.metrics_endpoint import metrics_endpoint
from chassis.server import ServerSettings, running_server
from tests.fakes.probe_service import (
    KINDS,
    UNARY,
    UNARY_STREAM,
    call_all_kinds,
    consumed,
    probe,
    unary,
    unary_stream,
)


def count(metrics: Metrics, side: str, method: str, status: str) -> float | None:
    """Returns how many calls were measured."""
    return metrics.registry.get_sample_value(
        f"rpc_{side}_call_duration_seconds_count",
        {"rpc_method": method, "rpc_response_status_code": status},
    )


async def answer(request: Any, context: Any) -> bytes:
    """Answers with nothing."""
    await consumed(request)
    return b""


async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
    """Sends two messages."""
    await consumed(request)
    yield b"1"
    yield b"2"


async def http(port: int, request: bytes) -> tuple[str, str]:
    """Sends a raw HTTP request; returns the status line and the rest."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    await writer.drain()
    raw = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, rest = raw.decode().partition("\r\n")
    return head, rest


@pytest.mark.parametrize("kind", KINDS)
async def test_both_sides_measure_every_kind_of_call(kind: str) -> None:
    """Server and client count the call once, by method and status."""
    metrics = Metrics()
    behaviour = stream if kind.endswith("Stream") else answer
    async with (
        running_server([probe({kind: behaviour})], ServerSettings(), metrics=metrics) as server,
        open_channel(server.address, metrics=metrics) as channel,
    ):
        await call_all_kinds(channel, kind)
    assert count(metrics, "server", kind, "OK") == 1
    assert count(metrics, "client", kind, "OK") == 1


async def test_failures_are_counted_by_their_status() -> None:
    """A refused call, one cut by its deadline and one given up are told apart on both sides."""
    metrics = Metrics()
    entered: asyncio.Queue[None] = asyncio.Queue()

    async def behave(request: bytes, context: Any) -> bytes:
        if request == b"refuse":
            raise NotFound("gone")
        entered.put_nowait(None)
        await asyncio.Event().wait()
        raise AssertionError

    async with (
        running_server([probe({UNARY: behave})], ServerSettings(), metrics=metrics) as server,
        open_channel(server.address, metrics=metrics) as channel,
    ):
        call = unary(channel)
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"refuse")
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"hang", timeout=0.5)
        await entered.get()
        given_up = asyncio.ensure_future(call(b"hang"))
        await entered.get()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
    for side in ("server", "client"):
        for status in ("NOT_FOUND", "DEADLINE_EXCEEDED", "CANCELLED"):
            assert count(metrics, side, UNARY, status) == 1, (side, status)


async def test_a_stream_left_halfway_is_counted_as_cancelled() -> None:
    """A caller that stops reading is no success."""
    metrics = Metrics()
    ended = asyncio.Event()

    async def endless(request: bytes, context: Any) -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"more"
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    behaviours = {UNARY_STREAM: endless}
    async with (
        running_server([probe(behaviours)], ServerSettings(), metrics=metrics) as server,
        open_channel(server.address, metrics=metrics) as channel,
    ):
        call = unary_stream(channel)(b"")
        async for message in call:
            assert message == b"more"
            call.cancel()
            break
        await ended.wait()
    assert count(metrics, "server", UNARY_STREAM, "CANCELLED") == 1
    assert count(metrics, "client", UNARY_STREAM, "CANCELLED") == 1


async def test_durations_are_seconds() -> None:
    """The sum of a call that takes 20 ms of the given clock is 0.02."""
    times = iter([0.0, 0.02, 0.0, 0.0])
    metrics = Metrics(clock=lambda: next(times))
    async with (
        running_server([probe()], ServerSettings(), metrics=metrics) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        await call_all_kinds(channel, UNARY)
    labels = {"rpc_method": UNARY, "rpc_response_status_code": "OK"}
    total = metrics.registry.get_sample_value("rpc_server_call_duration_seconds_sum", labels)
    assert total == pytest.approx(0.02)


async def test_two_servers_of_one_process_do_not_collide() -> None:
    """They share the metrics of the process, or have their own if given."""
    own = Metrics()
    async with (
        running_server([probe()], ServerSettings()) as first,
        running_server([probe()], ServerSettings()) as second,
        running_server([probe()], ServerSettings(), metrics=own) as third,
    ):
        assert first.metrics is second.metrics is process_metrics()
        assert third.metrics is own
        assert len({first.metrics_port, second.metrics_port, third.metrics_port}) == 3


async def test_the_metrics_port_shows_metrics_and_nothing_else() -> None:
    """/metrics answers in the Prometheus format; other paths and methods are refused."""
    metrics = Metrics()
    async with (
        running_server([probe()], ServerSettings(), metrics=metrics) as server,
        open_channel(server.address, metrics=metrics) as channel,
    ):
        await call_all_kinds(channel, UNARY)
        port = server.metrics_port
        status, rest = await http(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status == "HTTP/1.1 200 OK"
        assert "Content-Type: text/plain; version=" in rest
        assert (
            'rpc_server_call_duration_seconds_count{rpc_method="test.Probe/Unary",'
            'rpc_response_status_code="OK"} 1.0'
        ) in rest
        for target in ("/", "/metrics/", "/debug", "/metrics/../x"):
            status, _ = await http(port, f"GET {target} HTTP/1.1\r\n\r\n".encode())
            assert status == "HTTP/1.1 404 Not Found", target
        status, _ = await http(port, b"POST /metrics HTTP/1.1\r\n\r\n")
        assert status == "HTTP/1.1 405 Method Not Allowed"
        status, _ = await http(port, b"nonsense\r\n\r\n")
        assert status == "HTTP/1.1 400 Bad Request"


async def test_a_request_head_without_end_is_cut_off() -> None:
    """Nobody can fill the memory through the metrics port."""
    async with metrics_endpoint(Metrics(), "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\n" + b"X: y" * 50_000)
        # The other end may also reset, as it closes with our bytes unread.
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


def test_the_process_shows_its_memory() -> None:
    """Operators see the size of the process beside the calls."""
    assert b"process_resident_memory_bytes" in process_metrics().exposition()
