"""What the fake embedding servers share: a socket, vectors made of the text, limits to run into."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from embedder_svc.hosted.model import HostedModel
from embedder_svc.hosted.provider import HostedProvider
from tests.fakes.json_server import JsonServer, serving

KEY = "sk-very-secret-0123456789"


def vector_of(text: str, dimension: int) -> np.ndarray:
    """Returns the vector (norm 1) that a server makes of a text; no two texts share one."""
    row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimension)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


@dataclass
class EmbeddingServer(JsonServer):
    """A server; a subclass speaks a vendor's format in `answer`.

    `poison` are texts that it cannot embed.
    """

    dimension: int
    max_texts: int = 10**6
    max_tokens: int = 10**9
    max_input_tokens: int = 10**9
    tokens_per_character: float = 0.25
    poison: frozenset[str] = frozenset()

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.bodies]

    def tokens(self, text: str) -> int:
        """Counts the tokens of a text."""
        return max(1, round(len(text) * self.tokens_per_character))


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
