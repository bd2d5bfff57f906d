"""One lock for each key, for as long as somebody wants it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class KeyedLocks:
    """Lets one task at a time work on what a key names."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._wanted: Counter[Hashable] = Counter()

    @asynccontextmanager
    async def held(self, key: Hashable) -> AsyncIterator[None]:
        """Holds the lock of a key; those who wait get it in order."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._wanted[key] += 1
        try:
            async with lock:
                yield
        finally:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                del self._wanted[key], self._locks[key]
