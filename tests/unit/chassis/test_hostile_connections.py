"""Frames that no honest client sends cost their own connection, and no neighbour anything."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator

import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.interception import ServicerContext
from chassis.metrics import Metrics
from chassis.server import RunningServer, ServedService, ServerSettings, running_server

NAME = "test.EchoService"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, RST_STREAM, SETTINGS, CONTINUATION = 1, 3, 4, 9
END_HEADERS = 4
CANCEL = struct.pack(">I", 8)
MOST_BYTES = 2**20


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Returns one frame of HTTP/2 (RFC 9113, section 4.1)."""
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, flags])
        + (struct.pack(">I", stream) + payload)
    )


def literal(name: str, value: str) -> bytes:
    """Returns a header of HPACK that is in no table (RFC 7541, section 6.2.2); short ones only."""
    return b"\x00" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


CALL = b"".join(
    literal(name, value)
    for name, value in (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", f"/{NAME}/Echo"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    )
)


@pytest.fixture
async def server() -> AsyncIterator[RunningServer]:
    """A server with one method."""

    async def echo(request: bytes, _context: ServicerContext) -> bytes:
        return request

    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "Echo": grpc.unary_unary_rpc_method_handler(echo)
    }
    generic = grpc.method_handlers_generic_handler(NAME, handlers)
    service = ServedService(NAME, lambda added: added.add_generic_rpc_handlers([generic]))
    settings = ServerSettings(drain_grace_s=0.0, reflection=False)
    async with running_server([service], settings, metrics=Metrics()) as running:
        yield running


async def neighbour_is_answered(server: RunningServer) -> bool:
    """Calls over a connection of its own."""
    async with open_channel(server.address, metrics=Metrics()) as channel:
        echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{NAME}/Echo")
        return await echo(b"neighbour", timeout=60) == b"neighbour"


class Attacker:
    """A raw connection, which reads and forgets all that comes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.closed = asyncio.create_task(self._read(reader))

    @classmethod
    async def connect(cls, address: str) -> Attacker:
        """Connects and says what every client says first."""
        host, _, port = address.rpartition(":")
        attacker = cls(*await asyncio.open_connection(host, int(port)))
        await attacker.send(PREFACE + frame(SETTINGS, 0, 0, b""))
        return attacker

    async def send(self, data: bytes) -> bool:
        """Says whether the connection still takes bytes."""
        if self.closed.done():
            return False
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            return False
        return True

    async def leave(self) -> None:
        """Closes the connection."""
        self._writer.close()
        await self.closed

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while await reader.read(2**16):
                pass
        except ConnectionError:
            pass


async def test_calls_begun_and_reset_in_a_flood_harm_no_neighbour(server: RunningServer) -> None:
    """Rapid reset (CVE-2023-44487): thousands of calls, each given up in the next frame."""
    attacker = await Attacker.connect(server.address)
    for stream in range(1, 4_001, 2):
        opened = frame(HEADERS, END_HEADERS, stream, CALL) + frame(RST_STREAM, 0, stream, CANCEL)
        if not await attacker.send(opened):
            break
        if stream % 1_000 == 1:
            assert await neighbour_is_answered(server)
    assert await neighbour_is_answered(server)
    await attacker.leave()


async def test_headers_without_an_end_harm_no_neighbour(server: RunningServer) -> None:
    """CONTINUATION flood (CVE-2024-27316): what is too long is dropped as it comes."""
    attacker = await Attacker.connect(server.address)
    await attacker.send(frame(HEADERS, 0, 1, CALL))
    piece = frame(CONTINUATION, 0, 1, b"".join(literal(f"x-{n}", "v" * 100) for n in range(100)))
    for _ in range(MOST_BYTES // len(piece)):
        if not await attacker.send(piece):
            break
    assert await neighbour_is_answered(server)
    await attacker.leave()
