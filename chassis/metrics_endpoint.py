"""Serves /metrics over HTTP on the event loop, and nothing else.

One answer a connection; a request head over 8 KiB or slower than five seconds is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from chassis.metrics import Metrics

_MAX_HEAD_BYTES = 8192
_HEAD_SECONDS = 5.0

_log = structlog.get_logger("chassis.metrics_endpoint")


@asynccontextmanager
async def metrics_endpoint(metrics: Metrics, host: str, port: int) -> AsyncIterator[int]:
    """Serves while inside; yields the port, which is a free one if 0 was asked for."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(metrics, head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("metrics request cut off")
        finally:
            writer.close()

    server = await asyncio.start_server(answer, host, port, limit=_MAX_HEAD_BYTES)
    async with server:
        yield server.sockets[0].getsockname()[1]


def _response(metrics: Metrics, head: bytes) -> bytes:
    words = head.split(b"\r\n", 1)[0].split(b" ")
    if len(words) != 3:
        return _message("400 Bad Request", b"bad request\n")
    method, target = words[0], words[1].split(b"?", 1)[0]
    if target != b"/metrics":
        return _message("404 Not Found", b"only /metrics is here\n")
    if method != b"GET":
        return _message("405 Method Not Allowed", b"only GET\n")
    return _message("200 OK", metrics.exposition(), metrics.content_type)


def _message(status: str, body: bytes, content_type: str = "text/plain; charset=utf-8") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
