"""Vectors of queries, kept for a while so that an equal query is embedded once."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass

from cachetools import TTLCache

from chassis.clock import Clock, monotonic
from chassis.errors import Internal
from chassis.request_id import bind_request_id, current_request_id
from chassis.tracing.spans import bare_context
from gateway.documents import FloatMatrix
from gateway.embedding import EmbeddingPurpose
from gateway.ports import Embedder
from gateway.receipt import StageOutcome, StageReport
from gateway.workspaces import Space

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class QueryEmbedding:
    """Vector of one query, float32 of shape (dimension,), and how it was had."""

    vector: FloatMatrix
    report: StageReport


@dataclass(slots=True)
class _Flight:
    """A call under way, and the number of requests that wait for it."""

    task: asyncio.Task[QueryEmbedding]
    waiting: int = 0


class QueryVectors:
    """Embeds queries, each once for concurrent equal requests, and caches the vectors.

    An entry belongs to exactly one workspace, space and text. At most `capacity` vectors are kept,
    each for `ttl_s` seconds. A call is bounded by `call_timeout_s` and by no single request's
    deadline, since several may wait for it; it ends when the last of them leaves.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        capacity: int = 4096,
        ttl_s: float = 600.0,
        call_timeout_s: float = 5.0,
        clock: Clock = monotonic,
    ) -> None:
        self._embedder = embedder
        self._call_timeout_s = call_timeout_s
        self._cache: MutableMapping[_Key, FloatMatrix] = TTLCache(capacity, ttl_s, timer=clock)
        self._flights: dict[_Key, _Flight] = {}

    async def embed(self, workspace: str, space: Space, text: str) -> QueryEmbedding:
        """Returns the vector of a text in a space.

        FailedPrecondition where the model is no longer that of the space's canary, Internal where
        the width is not the space's.
        """
        key = (workspace, space.space_id, text)
        cached = self._cache.get(key)
        if cached is not None:
            return QueryEmbedding(cached, _CACHE_REPORT)
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(self._start(key, space))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                # Nobody may join a call that has ended or is being given up.
                del self._flights[key]
                flight.task.cancel()

    def knows(self, workspace: str, space: Space, text: str) -> bool:
        """Whether the vector can be had without the embedder."""
        return (workspace, space.space_id, text) in self._cache

    def forget_workspace(self, workspace: str) -> None:
        """Drops the vectors of a workspace."""
        for key in [key for key in self._cache if key[0] == workspace]:
            self._cache.pop(key, None)

    def _start(self, key: _Key, space: Space) -> asyncio.Task[QueryEmbedding]:
        # A context of its own: the deadline of the first request must not bind the others.
        return asyncio.get_running_loop().create_task(
            self._call(key, space, current_request_id()), context=bare_context()
        )

    async def _call(self, key: _Key, space: Space, request_id: str) -> QueryEmbedding:
        workspace, space_id, text = key
        bind_request_id(request_id)
        embedded = await self._embedder.embed(
            [text],
            EmbeddingPurpose.QUERY,
            space_id,
            workspace,
            canaries={space_id: space.canary} if space.canary else {},
            timeout=self._call_timeout_s,
        )
        vector = embedded.vectors[0]
        if vector.shape != (space.dimension,):
            raise Internal(
                f"the embedder answered with width {vector.shape[0]}, "
                f"the space has {space.dimension}",
                reason="EMBEDDER_ANSWER_BROKEN",
            )
        self._cache[key] = vector
        return QueryEmbedding(vector, embedded.report)


_CACHE_REPORT = StageReport("embed", StageOutcome.RAN, detail="query vector from the cache")
