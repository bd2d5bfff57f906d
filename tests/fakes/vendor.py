"""A vendor's HTTP API on a real socket, answering as the test scripts it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Reaction = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeVendor:
    """Where it listens, what it got, and how it will react; the last reaction repeats."""

    reactions: list[Reaction]
    url: str = ""
    received: list[Received] = field(default_factory=list)
    open_connections: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def left(self) -> None:
        """Waits until every client has closed its connection."""
        async with asyncio.timeout(10):
            while self.open_connections:  # noqa: ASYNC110 - the count has no event
                await asyncio.sleep(0.002)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection until either side closes it."""
        self.open_connections += 1
        begun = b""
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    self.received.append(await _request(reader, begun))
                    self.reached.set()
                    reaction = self.reactions[0]
                    if len(self.reactions) > 1:
                        self.reactions.pop(0)
                    begun = await _react(reaction, reader, writer)
        except _ClosingError:
            pass
        finally:
            self.open_connections -= 1
            writer.close()


class _ClosingError(Exception):
    """The reaction wants the connection closed."""


@asynccontextmanager
async def fake_vendor(*reactions: Reaction) -> AsyncIterator[FakeVendor]:
    """Serves while inside."""
    vendor = FakeVendor(list(reactions))
    handlers: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        try:
            await vendor.handle(reader, writer)
        except asyncio.CancelledError:
            writer.close()
        finally:
            handlers.discard(task)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    vendor.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield vendor
    finally:
        server.close()
        for task in list(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


def reply(
    value: Any = None, status: int = 200, headers: dict[str, str] | None = None, raw: bytes = b""
) -> Reaction:
    """Answers with JSON, or with raw bytes if given."""
    body = raw or json.dumps(value).encode()

    async def react(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, headers or {}, len(body)) + body)
        await writer.drain()

    return react


def hang() -> Reaction:
    """Takes the request and never answers."""

    async def react(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return react


def trickle(pieces: Iterable[bytes], pause_s: float) -> Reaction:
    """Begins an answer and sends it piece by piece, never reaching its end."""

    async def react(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(200, {}, 10**9))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return react


def chunked(
    *pieces: bytes, headers: dict[str, str] | None = None, ending: str = "whole"
) -> Reaction:
    """Answers in these pieces; `ending` is whole, cut (connection lost) or silent (for ever)."""

    async def react(writer: asyncio.StreamWriter) -> None:
        lines = ["HTTP/1.1 200 OK", "transfer-encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for piece in pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(0)
        if ending == "cut":
            raise _ClosingError
        if ending == "silent":
            await asyncio.Event().wait()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return react


def truncated(body: bytes, missing: int) -> Reaction:
    """Promises more bytes than it sends, then closes."""

    async def react(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(200, {}, len(body) + missing) + body)
        await writer.drain()
        raise _ClosingError

    return react


def gzipped(data: bytes, *, cut: int = 0) -> Reaction:
    """Answers with this data compressed, less the last `cut` bytes."""
    packed = gzip.compress(data, mtime=0)
    packed = packed[: len(packed) - cut]
    return reply(headers={"content-encoding": "gzip"}, raw=packed)


def disconnect() -> Reaction:
    """Closes the connection instead of answering."""

    async def react(writer: asyncio.StreamWriter) -> None:
        raise _ClosingError

    return react


def endless_headers() -> Reaction:
    """Sends header after header."""

    async def react(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"x-more: " + b"y" * 8000 + b"\r\n")
            await writer.drain()

    return react


async def _react(
    reaction: Reaction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bytes:
    """Reacts until the client closes the connection; returns what the next request began with."""
    reacting = asyncio.ensure_future(reaction(writer))
    reading = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((reacting, reading), return_when=asyncio.FIRST_COMPLETED)
        if reading.done() and not reacting.done() and reading.result() == b"":
            raise _ClosingError
        await reacting
        return reading.result() if reading.done() else b""
    finally:
        reacting.cancel()
        reading.cancel()
        await asyncio.gather(reacting, reading, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, begun: bytes) -> Received:
    head = (begun + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


def _head(status: int, headers: dict[str, str], length: int) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
