"""One task from its lease to what is noted of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from chassis.clock import Clock
from chassis.errors import ServiceError
from gateway.jobs.failures import failure_of, passes
from gateway.jobs.held_task import Ending, HeldTask, TaskResult, Work
from gateway.jobs.job import TaskFailure
from gateway.jobs.retry_policy import RetryPolicy
from gateway.jobs.task_queue import LeasedTask, LeaseLost, LeaseState, TaskQueue

_log = structlog.get_logger("gateway.jobs")

_INTERNAL = TaskFailure("INTERNAL", "INTERNAL", "internal error; the role's log says more")
_NOTE_PAUSE_S = 0.5
_LOST = "lost"


class TaskRun:
    """Holds the lease of a task while its work runs."""

    def __init__(
        self,
        queue: TaskQueue,
        leased: LeasedTask,
        lease_s: float,
        retries: RetryPolicy,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._leased = leased
        self._lease_s = lease_s
        self._retries = retries
        self._clock = clock
        self._held_until = clock() + lease_s
        self._held = HeldTask(queue, leased)
        self._look = asyncio.Event()

    def look(self) -> None:
        """Has the lease renewed at once, which tells whether the task is to be cancelled."""
        self._look.set()

    def end(self, ending: Ending) -> None:
        """Stops the work at its next safe point."""
        self._held.end(ending)

    async def done(self, work: Work) -> str:
        """Does the work and notes what came of it; raises nothing.

        Returns the outcome: indexed, failed, cancelled, put_off, put_back or lost.
        """
        task = self._leased.task
        if task.cancel_requested:
            return await self._noted("cancelled", lambda: self._queue.stop(self._leased))
        if task.attempt_count > self._retries.attempts:
            failure = task.failure or TaskFailure(
                "ABORTED",
                "TOO_MANY_ATTEMPTS",
                f"{task.subject} was begun {task.attempt_count - 1} times and never ended: the "
                "process that worked on it died each time",
            )
            return await self._noted("failed", lambda: self._queue.fail(self._leased, failure))
        worker = self._held.start(work)
        await self._watch(worker)
        return await self._note_end(worker)

    async def _watch(self, worker: asyncio.Task[TaskResult]) -> None:
        """Renews the lease until the work has ended."""
        looking = asyncio.create_task(self._look.wait())
        try:
            while not worker.done():
                await asyncio.wait(
                    {worker, looking},
                    timeout=self._lease_s / 3,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if worker.done():
                    return
                if looking.done():
                    self._look.clear()
                    looking = asyncio.create_task(self._look.wait())
                await self._renew()
        finally:
            looking.cancel()

    async def _renew(self) -> None:
        asked_at = self._clock()
        try:
            state = await self._queue.renew(self._leased, self._lease_s)
        except ServiceError as error:
            _log.warning("lease not renewed", reason=error.reason, error=error.message)
            if self._clock() > self._held_until:
                self._held.end(Ending.LOST)
            return
        if state is LeaseState.HELD:
            self._held_until = asked_at + self._lease_s
        elif state is LeaseState.LOST:
            self._held.end(Ending.LOST)
        else:
            self._held.end(Ending.CANCELLED)

    async def _note_end(self, worker: asyncio.Task[TaskResult]) -> str:
        leased, queue = self._leased, self._queue
        try:
            result = await worker
        except asyncio.CancelledError:
            return await self._note_stop()
        except LeaseLost:
            _log.warning("lease lost", task=leased.task.number, job=leased.task.job_id)
            return _LOST
        except ServiceError as error:
            return await self._note_failure(error)
        except Exception:
            _log.exception("unexpected error", task=leased.task.number, job=leased.task.job_id)
            return await self._noted("failed", lambda: queue.fail(leased, _INTERNAL))
        outcome = await self._noted(
            "indexed", lambda: queue.finish(leased, result.record, count=result.count)
        )
        if outcome != _LOST:
            result.afterwards()
        return outcome

    async def _note_stop(self) -> str:
        match self._held.ending:
            case Ending.LOST:
                return _LOST
            case Ending.CANCELLED:
                return await self._noted("cancelled", lambda: self._queue.stop(self._leased))
            case _:
                return await self._noted("put_back", lambda: self._queue.put_back(self._leased))

    async def _note_failure(self, error: ServiceError) -> str:
        leased, failure = self._leased, failure_of(error)
        attempts = leased.task.attempt_count
        if not passes(error) or attempts >= self._retries.attempts:
            return await self._noted("failed", lambda: self._queue.fail(leased, failure))
        pause_s = self._retries.pause_s(attempts)
        _log.info(
            "task put off",
            job=leased.task.job_id,
            task=leased.task.number,
            reason=error.reason,
            attempts=attempts,
            pause_s=round(pause_s, 1),
        )
        return await self._noted("put_off", lambda: self._queue.defer(leased, failure, pause_s))

    async def _noted(self, outcome: str, note: Callable[[], Awaitable[None]]) -> str:
        """Notes an outcome while the lease lasts; "lost" where the task will be done again."""
        while True:
            try:
                await note()
            except LeaseLost:
                _log.warning("lease lost", task=self._leased.task.number)
                return _LOST
            except ServiceError as error:
                _log.warning("task not noted", reason=error.reason, error=error.message)
                if self._clock() > self._held_until:
                    return _LOST
                await asyncio.sleep(_NOTE_PAUSE_S)
            else:
                return outcome
