"""Answers that come bit by bit, as server-sent events (WHATWG HTML, section 9.2).

Whatever fails before the first event is an ordinary error; later failures are an event `error` with
the body that an ordinary error has, and the stream ends. While nothing happens, comments keep the
connection open and find out whether anybody still listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import orjson
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from gateway.http.errors import error_response

Event = tuple[str, BaseModel]
HEARTBEAT_S = 15.0

# Proxies must not gather events before they pass them on.
_HEADERS = {"X-Accel-Buffering": "no"}
_closing: set[asyncio.Task[None]] = set()


async def event_stream(
    events: AsyncGenerator[Event, None], *, heartbeat_s: float = HEARTBEAT_S
) -> StreamingResponse:
    """Returns the answer; raises what the first event raises."""
    first = await anext(events, None)
    return line_stream(_lines(first, events), heartbeat_s=heartbeat_s)


def line_stream(
    lines: AsyncGenerator[bytes, None], *, heartbeat_s: float = HEARTBEAT_S
) -> StreamingResponse:
    """Returns an answer of events that are written already; their errors are theirs to tell."""
    return StreamingResponse(
        _kept_open(lines, heartbeat_s), media_type="text/event-stream", headers=_HEADERS
    )


async def _lines(
    first: Event | None, events: AsyncGenerator[Event, None]
) -> AsyncGenerator[bytes, None]:
    try:
        if first is not None:
            yield _line(first)
        async for event in events:
            yield _line(event)
    except Exception as error:
        yield b"event: error\ndata: " + error_response(error).body + b"\n\n"
    finally:
        await events.aclose()


async def _kept_open(
    lines: AsyncGenerator[bytes, None], heartbeat_s: float
) -> AsyncIterator[bytes]:
    following = asyncio.ensure_future(anext(lines, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=heartbeat_s)
            if not done:
                yield b": the work goes on\n\n"
                continue
            line = following.result()
            if line is None:
                return
            yield line
            following = asyncio.ensure_future(anext(lines, None))
    finally:
        # A reader that leaves has this cancelled again and again until it ends, and what closes the
        # work must not be.
        closing = asyncio.ensure_future(_close(following, lines))
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)
        await asyncio.wait({closing})


async def _close(
    following: asyncio.Future[bytes | None], lines: AsyncGenerator[bytes, None]
) -> None:
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    await lines.aclose()


def _line(event: Event) -> bytes:
    name, body = event
    data = orjson.dumps(body.model_dump(mode="json", exclude_none=True))
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
