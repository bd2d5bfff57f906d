"""Works on tasks, so many at a time, as long as it runs.

A lease is renewed at a third of its time. Work whose lease is lost, or whose cancelling is wished,
is stopped at its next safe point; so is all work when the runner closes, and its tasks go back
into the queue as if they had not been touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from prometheus_client import CollectorRegistry

from chassis.clock import Clock, monotonic
from chassis.errors import ServiceError
from gateway.jobs.held_task import Ending, Work
from gateway.jobs.job import JobState
from gateway.jobs.job_metrics import JobMetrics
from gateway.jobs.retry_policy import RetryPolicy
from gateway.jobs.task_queue import LeasedTask, TaskQueue
from gateway.jobs.task_run import TaskRun
from gateway.jobs.task_span import end_task, task_span

_log = structlog.get_logger("gateway.jobs")

_LOST_DATABASE_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class RunnerTerms:
    """How a runner works: `slots` tasks at a time, under leases of `lease_s` seconds.

    It looks for tasks of other processes every `poll_s` seconds.
    """

    holder: str
    slots: int = 2
    lease_s: float = 15.0
    poll_s: float = 1.0
    retries: RetryPolicy = field(default_factory=RetryPolicy)


class TaskRunner:
    """Does the work of some kinds; `works` says how, by kind, and in which state it begins."""

    def __init__(
        self,
        queue: TaskQueue,
        works: Mapping[str, tuple[JobState, Work]],
        terms: RunnerTerms,
        *,
        metrics: JobMetrics | None = None,
        clock: Clock = monotonic,
    ) -> None:
        self._queue = queue
        self._metrics = metrics or JobMetrics(CollectorRegistry())
        self._works = works
        self._terms = terms
        self._clock = clock
        self._wanted = asyncio.Event()
        self._running: dict[asyncio.Task[None], TaskRun] = {}
        self._free = asyncio.Semaphore(terms.slots)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Works while inside."""
        looking = [asyncio.create_task(self._look(kind)) for kind in self._works]
        try:
            yield
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
            for run in self._running.values():
                run.end(Ending.CLOSING)
            await asyncio.gather(*self._running)

    def wake(self) -> None:
        """Says that there are new tasks, or that some are to be cancelled."""
        self._wanted.set()
        for run in self._running.values():
            run.look()

    async def _look(self, kind: str) -> None:
        state, work = self._works[kind]
        while True:
            await self._free.acquire()
            leased = None
            try:
                leased = await self._next(kind, state)
            finally:
                if leased is None:
                    self._free.release()
            if leased is None:
                await self._rest()
                continue
            run = TaskRun(
                self._queue, leased, self._terms.lease_s, self._terms.retries, self._clock
            )
            task = asyncio.create_task(self._measured(kind, leased, run.done(work)))
            self._running[task] = run
            task.add_done_callback(self._ended)

    async def _measured(
        self, kind: str, leased: LeasedTask, done: Coroutine[Any, Any, str]
    ) -> None:
        started = self._clock()
        with (
            self._metrics.in_work.labels(kind).track_inprogress(),
            task_span(kind, leased.task.payload) as span,
        ):
            outcome = await done
            end_task(span, outcome)
        seconds = self._clock() - started
        self._metrics.seconds.labels(kind).observe(seconds)
        self._metrics.ended.labels(kind, outcome).inc()
        _log.info(
            "task ended",
            kind=kind,
            workspace=leased.task.workspace,
            job=leased.task.job_id,
            task=leased.task.number,
            outcome=outcome,
            attempts=leased.task.attempt_count,
            duration_ms=round(seconds * 1e3, 1),
        )

    async def _next(self, kind: str, state: JobState) -> LeasedTask | None:
        self._wanted.clear()
        try:
            return await self._queue.lease([kind], state, self._terms.holder, self._terms.lease_s)
        except ServiceError as error:
            _log.warning("no task leased", reason=error.reason, error=error.message)
            await asyncio.sleep(_LOST_DATABASE_PAUSE_S)
            return None

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(self._terms.poll_s):
                await self._wanted.wait()
        except TimeoutError:
            return

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._free.release()
        # The next task of the same subject may be ready now.
        self._wanted.set()
