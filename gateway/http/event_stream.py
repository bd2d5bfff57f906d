"""Answers that come bit by bit, as server-sent events (WHATWG HTML, section 9.2).

Whatever fails before the first event is an ordinary error; later failures are an event `error` with
the body that an ordinary error has, and the stream ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import orjson
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from gateway.http.errors import error_response

Event = tuple[str, BaseModel]


async def event_stream(events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Returns the answer; raises what the first event raises."""
    first = await anext(events, None)
    return StreamingResponse(_written(first, events), media_type="text/event-stream")


async def _written(
    first: Event | None, events: AsyncGenerator[Event, None]
) -> AsyncIterator[bytes]:
    try:
        if first is not None:
            yield _line(first)
        async for event in events:
            yield _line(event)
    except Exception as error:
        yield b"event: error\ndata: " + error_response(error).body + b"\n\n"
    finally:
        await events.aclose()


def _line(event: Event) -> bytes:
    name, body = event
    data = orjson.dumps(body.model_dump(mode="json", exclude_none=True))
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
