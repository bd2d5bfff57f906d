"""Heads of requests over a real socket: too long, too slow, or no HTTP at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from chassis.metrics import Metrics
from gateway.http import bounded_heads
from gateway.http.app import http_door
from gateway.http.bounded_heads import MAX_HEAD_BYTES
from gateway.http.server import running_http
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


@pytest.fixture
async def port(mesh: MeshOfFakes) -> AsyncIterator[int]:
    """Port of the HTTP door."""
    await mesh.key_ring.refresh()
    door = http_door(mesh.application(), Metrics())
    async with running_http(door, "127.0.0.1", 0, insecure=False, grace_s=1.0) as address:
        yield int(address.rpartition(":")[2])


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """Sends pieces and returns all that comes back until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        async with asyncio.timeout(30):
            return await reader.read()
    except ConnectionResetError:
        # Closed while there was more to send.
        return b""
    finally:
        writer.close()


def request(header_bytes: int, *, close: bool = True) -> bytes:
    """A sound request with one header of that length."""
    end = b"Connection: close\r\n" if close else b""
    return (
        b"GET /livez HTTP/1.1\r\nHost: x\r\n" + end + b"X-A: " + b"a" * header_bytes + b"\r\n\r\n"
    )


@pytest.mark.parametrize("header_bytes", [10, 30_000, MAX_HEAD_BYTES - 100])
async def test_heads_up_to_the_limit_are_served(port: int, header_bytes: int) -> None:
    """Whole, and byte by byte at its beginning."""
    whole = request(header_bytes)
    assert (await answer_to(port, whole)).startswith(b"HTTP/1.1 200")
    assert (await answer_to(port, *(whole[n : n + 1] for n in range(40)), whole[40:])).startswith(
        b"HTTP/1.1 200"
    )


@pytest.mark.parametrize("header_bytes", [MAX_HEAD_BYTES + 1, 200_000, 5_000_000])
async def test_a_head_that_is_too_long_is_refused(port: int, header_bytes: int) -> None:
    """As JSON that says the limit, wherever the head is cut; others are served all the while."""
    head = request(header_bytes)
    for pieces in ([head], [head[at : at + 30_000] for at in range(0, len(head), 30_000)]):
        answer = await answer_to(port, *pieces)
        if answer:
            line, _, rest = answer.partition(b"\r\n")
            assert line == b"HTTP/1.1 431 Request Header Fields Too Large"
            error = json.loads(rest.rpartition(b"\r\n\r\n")[2])["error"]
            assert error["reason"] == "HEAD_TOO_LARGE"
            assert str(MAX_HEAD_BYTES) in error["message"]
    assert (await answer_to(port, request(10))).startswith(b"HTTP/1.1 200")


async def test_heads_of_later_requests_are_bounded_too(port: int) -> None:
    """On a connection that has served before."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(30):
        writer.write(request(10, close=False))
        first = await reader.readuntil(b'{"alive":true}')
        writer.write(request(MAX_HEAD_BYTES + 1))
        second = await reader.read()
    writer.close()

    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 431")


async def test_a_head_that_does_not_end_is_given_up(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is closed, also while bytes trickle in, and without an answer."""
    monkeypatch.setattr(bounded_heads, "HEAD_TIMEOUT_S", 0.2)

    assert await answer_to(port) == b""
    assert await answer_to(port, b"GET /livez HTTP/1.1\r\nHo") == b""
    assert (await answer_to(port, request(10))).startswith(b"HTTP/1.1 200")


async def test_what_is_no_http_is_refused_in_words(port: int) -> None:
    """As JSON like any other refusal."""
    answer = await answer_to(port, b"\x16\x03\x01 no http\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400")
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["error"]["reason"] == "REQUEST_UNREADABLE"
