"""What the fake embedding servers share: a socket, vectors made of the text, limits to run into."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from embedder_svc.hosted.connection import Connection, Timing
from embedder_svc.hosted.model import HostedModel
from embedder_svc.hosted.provider import HostedProvider
from tests.fakes.vendor import Received, fake_vendor, reply

KEY = "sk-very-secret-0123456789"


def vector_of(text: str, dimension: int) -> np.ndarray:
    """Returns the vector (norm 1) that a server makes of a text; no two texts share one."""
    row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimension)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


class RefusedError(Exception):
    """The server refuses with this status and body."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers or {}


@dataclass
class EmbeddingServer:
    """A server; a subclass speaks a vendor's format in `answer`.

    `poison` are texts that it cannot embed. `tampered` changes an answer before it is sent.
    `failures` are raised first, one a request. `bodies` are the requests that it has seen.
    """

    dimension: int
    max_texts: int = 10**6
    max_tokens: int = 10**9
    max_input_tokens: int = 10**9
    tokens_per_character: float = 0.25
    poison: frozenset[str] = frozenset()
    tampered: Callable[[Any], Any] = lambda value: value
    failures: list[RefusedError] = field(default_factory=list)
    delay_s: float = 0.0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.bodies]

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Returns the answer, or raises RefusedError."""
        raise NotImplementedError

    def answer_get(self, path: str) -> Any:
        """Answers a GET; there is nothing by default."""
        raise RefusedError(404, {"error": "not found"})

    def tokens(self, text: str) -> int:
        """Counts the tokens of a text."""
        return max(1, round(len(text) * self.tokens_per_character))

    def respond(self, received: Received) -> tuple[int, Any, dict[str, str]]:
        """Returns status, body and headers of the answer."""
        try:
            if received.method == "GET":
                return 200, self.answer_get(received.path), {}
            self.bodies.append(json.loads(received.body))
            self.headers.append(received.headers)
            if self.failures:
                raise self.failures.pop(0)
            return 200, self.tampered(self.answer(received.path, self.bodies[-1])), {}
        except RefusedError as refusal:
            return refusal.status, refusal.body, refusal.headers


@asynccontextmanager
async def serving(server: EmbeddingServer) -> AsyncIterator[None]:
    """Runs the server on a socket; `server.url` is its address."""

    async def react(writer: asyncio.StreamWriter) -> None:
        status, value, headers = server.respond(vendor.received[-1])
        await asyncio.sleep(server.delay_s)
        # `json` writes NaN as it is, as some servers do.
        await reply(status=status, headers=headers, raw=json.dumps(value).encode())(writer)

    async with fake_vendor(react) as vendor:
        server.url = vendor.url
        yield


Build = Callable[[Connection, HostedModel, CircuitBreaker, Timing], HostedProvider]


@asynccontextmanager
async def provider_of(
    server: EmbeddingServer,
    build: Build,
    model: HostedModel,
    *,
    path: str = "",
    timing: Timing | None = None,
    breaker: CircuitBreaker | None = None,
) -> AsyncIterator[HostedProvider]:
    """Runs the server and a provider that talks to it."""
    async with serving(server):
        provider = build(
            Connection(server.url + path, SecretStr(KEY)),
            model,
            breaker or CircuitBreaker("vendor"),
            timing or Timing(),
        )
        try:
            yield provider
        finally:
            await provider.close()
