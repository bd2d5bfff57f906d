"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
import itertools


class FakeClock:
    """Seconds of a made-up time; call it to read it, pass `sleep` where code waits.

    With `auto`, a sleep moves the time itself and returns; otherwise sleepers wait for `advance`.
    """

    def __init__(self, start: float = 1000.0, *, auto: bool = False) -> None:
        self.now = start
        self.slept: list[float] = []
        self._auto = auto
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Waits in made-up time and remembers for how long."""
        self.slept.append(seconds)
        if self._auto:
            self.now += max(0.0, seconds)
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), waiting))
        await waiting

    async def advance(self, seconds: float) -> None:
        """Moves the time on, waking sleepers at their own moment and in their order."""
        end = self.now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            moment, _, waiting = heapq.heappop(self._sleepers)
            self.now = max(self.now, moment)
            if not waiting.done():
                waiting.set_result(None)
            await settle()
        self.now = end


async def settle() -> None:
    """Lets every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)
