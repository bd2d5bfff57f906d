"""How slowly a caller may send: one that dribbles would hold its place and its connection.

Only the time that is spent waiting for the caller counts, not what is done with what came.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.errors import DeadlineExceeded

T = TypeVar("T")

TOO_SLOW = "BODY_TOO_SLOW"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds without a byte, and bytes a second on the whole once `idle_s` have been waited."""

    idle_s: float = 30.0
    bytes_per_s: float = 1024.0


class PacedWait:
    """Waits for the parts of one body; DeadlineExceeded where its sender is too slow."""

    def __init__(self, pace: Pace, clock: Clock = clocks.monotonic) -> None:
        self._pace = pace
        self._clock = clock
        self._waited_s = 0.0
        self._byte_count = 0

    async def part(self, coming: Awaitable[T], size: Callable[[T], int]) -> T:
        """Returns the next part, of so many bytes."""
        began = self._clock()
        try:
            async with asyncio.timeout(self._pace.idle_s):
                part = await coming
        except TimeoutError:
            raise self._too_slow(f"no more came for {self._pace.idle_s:g} s") from None
        self._waited_s += self._clock() - began
        self._byte_count += size(part)
        if self._byte_count < self._pace.bytes_per_s * (self._waited_s - self._pace.idle_s):
            raise self._too_slow(f"fewer than {self._pace.bytes_per_s:g} bytes a second came")
        return part

    def _too_slow(self, why: str) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"{why} of the body, {self._byte_count} bytes in all; send it again, faster",
            reason=TOO_SLOW,
        )


async def paced(
    parts: AsyncIterator[T], size: Callable[[T], int], pace: Pace | None
) -> AsyncIterator[T]:
    """Yields parts as they come; DeadlineExceeded where they come too slowly."""
    if pace is None:
        async for part in parts:
            yield part
        return
    wait = PacedWait(pace)
    while True:
        try:
            part = await wait.part(anext(parts), size)
        except StopAsyncIteration:
            return
        yield part
