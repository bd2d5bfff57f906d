"""Two providers of one width whose spaces are unlike: no answer may hold a vector of the other."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import numpy as np

from chassis.circuit_breaker import CircuitBreaker
from chassis.deadline import Deadline
from chassis.errors import Unavailable
from embedder_svc.canary import CANARY_TEXT
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink, Embedding
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.vector_cache import VectorCache
from tests.fakes.clock import FakeClock
from tests.fakes.embedding_providers import DIMENSION, ScriptedProvider
from tests.fakes.vendors.embedding_server import vector_of

TEXTS = [f"texte {number}" for number in range(12)]


class RotatedProvider(ScriptedProvider):
    """Embeds into a rotation of the other provider's space, and fails half of the time."""

    def __init__(self, name: str, turn: int, rng: random.Random) -> None:
        super().__init__(name)
        self._turn = turn
        self._rng = rng

    def expected(self, texts: Sequence[str]) -> Vectors:
        """Returns the right vectors of these texts."""
        return np.stack([np.roll(vector_of(text, DIMENSION), self._turn) for text in texts])

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Fails or answers, after a while of its own."""
        for _ in range(self._rng.randrange(4)):
            await asyncio.sleep(0)
        if texts[0] != CANARY_TEXT and self._rng.random() < 0.5:
            raise Unavailable("down")
        return EmbeddedBatch(self.expected(texts), tuple(EmbeddedText(1) for _ in texts))


async def test_every_answer_belongs_to_the_space_it_names() -> None:
    """Concurrent queries and documents, outages of both, and a cache that both share."""
    rng = random.Random(11)
    clock = FakeClock(auto=True)
    providers = [RotatedProvider("first", 0, rng), RotatedProvider("second", 3, rng)]
    by_space = {provider.space: provider for provider in providers}
    cache = VectorCache(max_bytes=20_000, ttl_s=3600.0)
    chain = ProviderChain(
        tuple(
            ChainLink(
                provider,
                CircuitBreaker(provider.name, threshold=3, open_s=1.0, clock=clock),
                cache=cache,
            )
            for provider in providers
        )
    )
    answered: list[tuple[list[str], Embedding]] = []

    async def call() -> None:
        texts = rng.sample(TEXTS, rng.randrange(1, 5))
        purpose = rng.choice(list(EmbeddingPurpose))
        space = rng.choice([None, providers[0].space, providers[1].space])
        clock.now += 0.05
        try:
            embedding = await chain.embed(texts, purpose, space=space)
        except Unavailable:
            return
        assert space in (None, embedding.space)
        answered.append((texts, embedding))

    for _ in range(60):
        await asyncio.gather(*(call() for _ in range(8)))

    for texts, embedding in answered:
        expected = by_space[embedding.space].expected(texts)
        np.testing.assert_allclose(embedding.batch.vectors, expected, atol=1e-6)
    assert {embedding.provider for _, embedding in answered} == {"first", "second"}
    assert any(text.cached for _, embedding in answered for text in embedding.batch.texts)
