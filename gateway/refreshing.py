"""Reading again and again what somebody else may change."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from chassis.clock import Sleep, sleep

JITTER = 0.1


async def repeated(
    refresh: Callable[[], Awaitable[object]],
    *,
    interval_s: float,
    sleep: Sleep = sleep,
    chance: Callable[[float, float], float] = random.uniform,
) -> None:
    """Refreshes for ever, every `interval_s` seconds give or take a tenth.

    The tenth keeps replicas from asking the database all at once.
    """
    while True:
        await sleep(interval_s * chance(1 - JITTER, 1 + JITTER))
        await refresh()
