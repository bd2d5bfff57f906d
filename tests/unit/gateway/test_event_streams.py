"""Server-sent events: errors on the way, silence, and readers that leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from chassis.errors import Unavailable
from gateway.http.errors import install_error_handlers
from gateway.http.event_stream import Event, event_stream
from gateway.http.server import running_http


class Step(BaseModel):
    """The body of an event."""

    number: int


class Work:
    """Yields steps, then waits for ever; what it has to close takes several turns of the loop."""

    def __init__(self, steps: int, error: Exception | None = None) -> None:
        self.steps = steps
        self.error = error
        self.closed = asyncio.Event()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yields the events."""
        try:
            for number in range(self.steps):
                yield "step", Step(number=number)
            if self.error is not None:
                raise self.error
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            self.closed.set()


@asynccontextmanager
async def served(work: Work, heartbeat_s: float = 60.0) -> AsyncIterator[httpx.AsyncClient]:
    """Serves the work on a socket."""
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/events")
    async def events() -> StreamingResponse:
        return await event_stream(work.events(), heartbeat_s=heartbeat_s)

    async with (
        running_http(app, "127.0.0.1", 0, insecure=True, grace_s=1.0) as address,
        httpx.AsyncClient(base_url=f"http://{address}", timeout=30) as client,
    ):
        yield client


async def test_a_reader_that_leaves_ends_the_work() -> None:
    """Whole: also what the work has to close, though it takes time."""
    work = Work(2)
    async with served(work) as client, client.stream("GET", "/events") as answer:
        lines = answer.aiter_lines()
        while await anext(lines) != 'data: {"number":1}':
            pass
        await answer.aclose()
        async with asyncio.timeout(30):
            await work.closed.wait()


async def test_silence_is_filled_with_comments() -> None:
    """So that proxies keep the connection, and a reader that has gone is noticed."""
    work = Work(1)
    async with served(work, heartbeat_s=0.01) as client, client.stream("GET", "/events") as answer:
        lines = answer.aiter_lines()
        while not (await anext(lines)).startswith(":"):
            pass
        assert answer.headers["x-accel-buffering"] == "no"


@pytest.mark.parametrize(("steps", "code"), [(0, 503), (2, 200)])
async def test_an_error_is_told_whenever_it_comes(steps: int, code: int) -> None:
    """Before the first event by its status, later by an event."""
    work = Work(steps, Unavailable("lost"))
    async with served(work) as client:
        answer = await client.get("/events")

    assert answer.status_code == code
    assert "lost" in answer.text
    assert ("event: error" in answer.text) is (steps > 0)
    assert work.closed.is_set()
