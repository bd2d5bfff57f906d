"""Does equal work that is wanted several times at once only once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(slots=True)
class _Flight(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int = 0


class SingleFlight(Generic[Key, Result]):
    """Shares the work under way among all who want it; used on one event loop.

    The work runs in a task of its own, with the deadline of whoever started it. A caller that is
    cancelled leaves the others waiting; when the last one has left, the work is cancelled.
    """

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Result]] = {}

    def __contains__(self, key: Key) -> bool:
        """Whether such work is under way."""
        return key in self._flights

    async def run(self, key: Key, work: Callable[[], Awaitable[Result]]) -> tuple[Result, bool]:
        """Returns what the work returns, and whether it was started for this caller."""
        flight = self._flights.get(key)
        started = flight is None
        if flight is None:
            flight = _Flight(asyncio.ensure_future(_awaited(work)))
            self._flights[key] = flight
            flight.task.add_done_callback(lambda task: self._landed(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), started
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                # At once, so that nobody joins what is about to end.
                self._forget(key, flight.task)
                flight.task.cancel()

    def _landed(self, key: Key, task: asyncio.Task[Result]) -> None:
        self._forget(key, task)
        if not task.cancelled():
            task.exception()  # nobody may be left to hear of it

    def _forget(self, key: Key, task: asyncio.Task[Result]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]


async def _awaited(work: Callable[[], Awaitable[Result]]) -> Result:
    return await work()
