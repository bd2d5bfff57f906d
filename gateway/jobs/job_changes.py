"""Tells those who wait in this process that a job has changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict


class JobChanges:
    """Wakes waiters; what other processes change wakes nobody, so waits are bounded."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def tell(self, job_id: str) -> None:
        """Wakes everybody who waits for a job."""
        for event in self._waiting.get(job_id, ()):
            event.set()

    def watch(self, job_id: str) -> ChangeWatch:
        """Begins to listen; what changes between two waits is not missed."""
        return ChangeWatch(self._waiting, job_id)


class ChangeWatch:
    """One listener, a context manager."""

    def __init__(self, waiting: defaultdict[str, set[asyncio.Event]], job_id: str) -> None:
        self._waiting = waiting
        self._job_id = job_id
        self._changed = asyncio.Event()

    def __enter__(self) -> ChangeWatch:
        self._waiting[self._job_id].add(self._changed)
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting[self._job_id].discard(self._changed)
        if not self._waiting[self._job_id]:
            del self._waiting[self._job_id]

    async def wait(self, seconds: float) -> None:
        """Waits for a change since the last wait, at most some seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return
        finally:
            self._changed.clear()
