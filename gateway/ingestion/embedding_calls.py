"""Calls of the embedder for documents: bounded in size and in number at a time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from chassis.errors import ServiceError
from gateway.embedding import EmbeddedTexts, EmbeddingPurpose
from gateway.ports import Embedder

_DESCRIBE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How texts are sent: `texts` and estimated `tokens` a call, `calls` at a time."""

    texts: int = 32
    tokens: int = 8_000
    calls: int = 2
    timeout_s: float = 120.0


class EmbeddingCalls:
    """Has texts embedded as documents; the bound on calls holds for all who share an object."""

    def __init__(
        self,
        embedder: Embedder,
        limits: BatchLimits | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._embedder = embedder
        self._limits = limits or BatchLimits()
        self._calls = asyncio.Semaphore(self._limits.calls)
        self._clock = clock
        self._open_count = 0
        self._last_end = -math.inf

    async def embed(
        self,
        texts: Sequence[str],
        space_id: str | None,
        workspace: str,
        canaries: Mapping[str, bytes] | None = None,
    ) -> EmbeddedTexts:
        """Embeds one batch; a text that the provider cannot embed is named in the answer.

        `canaries` are those kept with the workspace's spaces, by space id.
        """
        self._open_count += 1
        try:
            async with self._calls:
                return await self._embedder.embed(
                    texts,
                    EmbeddingPurpose.DOCUMENT,
                    space_id,
                    workspace,
                    accept_failures=True,
                    canaries=canaries,
                    timeout=self._limits.timeout_s,
                )
        finally:
            self._open_count -= 1
            self._last_end = self._clock()

    @property
    def limits(self) -> BatchLimits:
        """How texts are sent."""
        return self._limits

    @property
    def busy(self) -> bool:
        """Whether as many calls are under way as may be."""
        return self._calls.locked()

    @property
    def idle_s(self) -> float:
        """Seconds since the last call ended; 0 while one is under way or waits for its turn."""
        return 0.0 if self._open_count else self._clock() - self._last_end

    def batches(self, tokens: Mapping[str, int]) -> Iterator[list[str]]:
        """Yields the keys in order, as many a call as the limits allow by their estimated tokens.

        A key with more tokens than a call may have gets one of its own.
        """
        batch: list[str] = []
        held = 0
        for key, added in tokens.items():
            if batch and (len(batch) == self._limits.texts or held + added > self._limits.tokens):
                yield batch
                batch, held = [], 0
            batch.append(key)
            held += added
        if batch:
            yield batch

    async def windows_recommended(self, space_id: str) -> bool:
        """Says whether the provider of a space holds windows to be worth their price."""
        providers = await self._embedder.describe_providers(timeout=_DESCRIBE_TIMEOUT_S)
        return any(p.space_id == space_id and p.windows_recommended for p in providers)


async def side_by_side(calls: Iterable[Coroutine[object, object, object]]) -> None:
    """Runs calls together; the first ServiceError cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call)
    except* ServiceError as errors:
        raise _first_of(errors) from errors


def _first_of(errors: BaseExceptionGroup[ServiceError]) -> ServiceError:
    first = errors.exceptions[0]
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
