"""Keeps a client below a vendor's limits of requests and of tokens per minute.

Each limit is a token bucket that may go into debt: whoever asks is given the next free moment at
once and waits for it, so callers are served in the order in which they asked. Who would wait
beyond its deadline is refused at once and takes nothing. Who yields takes nothing in advance, so
that everybody else goes first.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from chassis import clock as clocks
from chassis.clock import Clock, Sleep
from chassis.deadline import Deadline
from chassis.errors import ResourceExhausted

# What rounding leaves of a wait that is over.
_NO_WAIT_S = 1e-6


class RateLimited(ResourceExhausted):
    """No room before the deadline; `retry_after_s` says when there will be."""

    default_reason = "RATE_LIMITED"


@dataclass(slots=True)
class _Bucket:
    rate: float  # per second
    capacity: float
    level: float
    at: float

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until this amount is there; an amount above the capacity waits for a full one."""
        self.level = min(self.capacity, self.level + (now - self.at) * self.rate)
        self.at = now
        return max(0.0, (min(amount, self.capacity) - self.level) / self.rate)


class RateLimiter:
    """Limits of one account at one vendor; used on one event loop, so without a lock.

    A limit of None means unlimited. `burst_s` is how many seconds' worth of each limit may be
    used at once after a quiet time (at least one request).
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        burst_s: float = 1.0,
        clock: Clock = clocks.monotonic,
        sleep: Sleep = clocks.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._requests = self._bucket(requests_per_minute, burst_s)
        self._tokens = self._bucket(tokens_per_minute, burst_s)
        self._paused_until = float("-inf")
        self._yielding = asyncio.Lock()

    async def acquire(
        self, tokens: float = 0.0, deadline: Deadline | None = None, *, yielding: bool = False
    ) -> None:
        """Waits for room for one request of that many tokens.

        Those who are `yielding` wait one after the other, until nobody else needs the room.

        Raises RateLimited, without waiting, if the deadline does not allow the wait. A caller
        that is cancelled while it waits gives its room back.
        """
        if yielding:
            await self._acquire_yielding(tokens, deadline)
            return
        wait = self._reserve(tokens, deadline)
        try:
            while wait > 0:
                await self._sleep(wait)
                # Another caller may have been told meanwhile to leave the vendor alone.
                wait = self._pause_left()
                self._refuse_if_beyond(wait, deadline)
        except BaseException:
            self._put_back(tokens)
            raise

    async def _acquire_yielding(self, tokens: float, deadline: Deadline | None) -> None:
        async with self._yielding:
            while (wait := self._wait_for(tokens)) > _NO_WAIT_S:
                self._refuse_if_beyond(wait, deadline)
                await self._sleep(wait)
            self._reserve(tokens, deadline)

    def pause_until(self, moment: float) -> None:
        """Lets nobody pass before this moment of the limiter's clock; a later one stays."""
        self._paused_until = max(self._paused_until, moment)

    def pause_for(self, seconds: float) -> None:
        """Lets nobody pass for that many seconds."""
        self.pause_until(self._clock() + seconds)

    def _bucket(self, per_minute: float | None, burst_s: float) -> _Bucket | None:
        if per_minute is None:
            return None
        if per_minute <= 0:
            raise ValueError(f"a limit per minute must be greater than 0, not {per_minute:g}")
        capacity = max(1.0, per_minute / 60.0 * burst_s)
        return _Bucket(per_minute / 60.0, capacity, capacity, self._clock())

    def _reserve(self, tokens: float, deadline: Deadline | None) -> float:
        wait = self._wait_for(tokens)
        self._refuse_if_beyond(wait, deadline)
        for bucket, amount in self._wanted(tokens):
            bucket.level -= amount
        return wait

    def _wait_for(self, tokens: float) -> float:
        now = self._clock()
        waits = [bucket.wait_for(amount, now) for bucket, amount in self._wanted(tokens)]
        return max([self._pause_left(), *waits])

    def _wanted(self, tokens: float) -> list[tuple[_Bucket, float]]:
        demands = [(self._requests, 1.0), (self._tokens, tokens)]
        return [(bucket, amount) for bucket, amount in demands if bucket is not None]

    def _put_back(self, tokens: float) -> None:
        for bucket, amount in self._wanted(tokens):
            bucket.level = min(bucket.capacity, bucket.level + amount)

    def _pause_left(self) -> float:
        return max(0.0, self._paused_until - self._clock())

    @staticmethod
    def _refuse_if_beyond(wait: float, deadline: Deadline | None) -> None:
        if wait > 0 and deadline is not None and wait > deadline.remaining():
            raise RateLimited(
                f"the rate limit leaves no room for {wait:.1f} s, "
                f"but only {deadline.remaining():.1f} s are left",
                retry_after_s=wait,
            )
