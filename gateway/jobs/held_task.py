"""A task while it is worked on: how far it is, and whether it may still be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gateway.jobs.job import JobState, Record, Task
from gateway.jobs.task_queue import LeasedTask, TaskQueue


class Ending(Enum):
    """Why work is stopped from outside."""

    CANCELLED = "cancelled"
    LOST = "lost"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task: its record, how many units it has, and what to do once that is noted."""

    record: Record
    count: int = 0
    afterwards: Callable[[], None] = lambda: None


class HeldTask:
    """What the work sees of its task."""

    def __init__(self, queue: TaskQueue, leased: LeasedTask) -> None:
        self.leased = leased
        self.ending: Ending | None = None
        self._queue = queue
        self._worker: asyncio.Task[TaskResult] | None = None
        self._committing = False

    @property
    def task(self) -> Task:
        """The task as it was leased."""
        return self.leased.task

    async def advance(
        self,
        state: JobState,
        *,
        done_count: int = 0,
        total_count: int = 0,
        result: Record | None = None,
    ) -> None:
        """Notes how far the task is; raises LeaseLost where it is in other hands.

        `result` is what the next attempt should know if this one does not come to its end.
        """
        await self._queue.advance(
            self.leased, state, done_count=done_count, total_count=total_count, result=result
        )

    @asynccontextmanager
    async def committing(self) -> AsyncIterator[None]:
        """Guards the step that shows: it is done whole, whoever wants the task stopped meanwhile.

        Stopping it half-way would leave nobody knowing whether it has happened.
        """
        if self.ending is not None:
            raise asyncio.CancelledError
        self._committing = True
        try:
            yield
        finally:
            self._committing = False

    def start(self, work: Work) -> asyncio.Task[TaskResult]:
        """Starts the work."""
        self._worker = asyncio.create_task(work(self))
        return self._worker

    def end(self, ending: Ending) -> None:
        """Stops the work at the next safe point; the first reason counts."""
        self.ending = self.ending or ending
        if self._worker is not None and not self._committing:
            self._worker.cancel()


Work = Callable[[HeldTask], Coroutine[Any, Any, TaskResult]]
"""Does a task and returns what came of it; what it raises is noted as the task's failure."""
