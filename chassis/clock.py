"""The clocks of the process, to be injected where time decides something.

Durations and deadlines are measured on the monotonic clock only, since the wall clock jumps; the
wall clock is for dates that others send or read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

Clock = Callable[[], float]
"""Returns seconds from any fixed start; only differences mean something."""

Sleep = Callable[[float], Awaitable[None]]
"""Waits that many seconds."""

monotonic: Clock = time.monotonic

wall: Clock = time.time
"""Seconds since 1970-01-01 UTC."""


async def sleep(seconds: float) -> None:
    """Waits that many seconds of the event loop's time."""
    await asyncio.sleep(seconds)
