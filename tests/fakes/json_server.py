"""A vendor's server that takes JSON and answers with JSON, over a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fakes.vendor import Received, fake_vendor, reply


class RefusedError(Exception):
    """The server refuses with this status and body."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers or {}


@dataclass(kw_only=True)
class JsonServer:
    """A server; a subclass speaks a vendor's format in `answer`.

    `tampered` changes an answer before it is sent. `failures` are raised first, one a request.
    `bodies`, `paths` and `headers` are those of the requests that it has seen. While it is served,
    `url` is its address and `open_connections` counts those of its clients.
    """

    tampered: Callable[[Any], Any] = lambda value: value
    failures: list[RefusedError] = field(default_factory=list)
    delay_s: float = 0.0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    open_connections: Callable[[], int] = lambda: 0

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Returns the answer, or raises RefusedError."""
        raise NotImplementedError

    def answer_get(self, path: str) -> Any:
        """Answers a GET; there is nothing by default."""
        raise RefusedError(404, {"error": "not found"})

    def respond(self, received: Received) -> tuple[int, Any, dict[str, str]]:
        """Returns status, body and headers of the answer."""
        try:
            if received.method == "GET":
                return 200, self.answer_get(received.path), {}
            self.bodies.append(json.loads(received.body))
            self.paths.append(received.path)
            self.headers.append(received.headers)
            if self.failures:
                raise self.failures.pop(0)
            return 200, self.tampered(self.answer(received.path, self.bodies[-1])), {}
        except RefusedError as refusal:
            return refusal.status, refusal.body, refusal.headers


@asynccontextmanager
async def serving(server: JsonServer) -> AsyncIterator[None]:
    """Runs the server on a socket; `server.url` is its address."""

    # Reactions begin in the order in which their requests arrived.
    arrivals = count()

    async def react(writer: asyncio.StreamWriter) -> None:
        status, value, headers = server.respond(vendor.received[next(arrivals)])
        await asyncio.sleep(server.delay_s)
        # `json` writes NaN as it is, as some servers do.
        await reply(status=status, headers=headers, raw=json.dumps(value).encode())(writer)

    async with fake_vendor(react) as vendor:
        server.url = vendor.url
        server.open_connections = lambda: vendor.open_connections
        yield
