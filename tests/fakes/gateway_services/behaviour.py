"""How a fake meets its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.fakes.clock import FakeClock


@dataclass
class Behaviour:
    """Waits for others at `barrier`, hangs for ever, raises `error`, or lets the call pass.

    `before` is awaited with the call's time-out first. `takes_s` is the time a call takes on
    `clock`; `timeouts` are those the calls were given.
    """

    error: Exception | None = None
    before: Callable[[float | None], Awaitable[None]] | None = None
    hangs: bool = False
    barrier: asyncio.Barrier | None = None
    clock: FakeClock | None = None
    takes_s: float = 0.0
    timeouts: list[float | None] = field(default_factory=list)

    async def meet(self, timeout: float | None) -> None:
        """Does to a call what the test asked for."""
        self.timeouts.append(timeout)
        if self.before is not None:
            await self.before(timeout)
        if self.barrier is not None:
            await self.barrier.wait()
        if self.clock is not None:
            self.clock.now += self.takes_s
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
