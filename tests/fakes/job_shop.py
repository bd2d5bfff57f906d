"""A job store with runners over it whose work a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gateway.jobs.held_task import HeldTask, TaskResult
from gateway.jobs.job import Job, JobState, NewTask, Task
from gateway.jobs.job_changes import JobChanges
from gateway.jobs.job_store import JobStore
from gateway.jobs.retry_policy import RetryPolicy
from gateway.jobs.task_queue import TaskQueue
from gateway.jobs.task_runner import RunnerTerms, TaskRunner

TERMS = RunnerTerms(
    "me", slots=2, lease_s=0.3, poll_s=0.05, retries=RetryPolicy(attempts=3, first_s=0.0)
)


@dataclass
class Shop:
    """A store, and runners over it whose work a test decides."""

    store: JobStore
    queue: TaskQueue
    changes: JobChanges
    begun: list[str] = field(default_factory=list)
    steps: dict[str, Callable[[HeldTask], Coroutine[Any, Any, TaskResult]]] = field(
        default_factory=dict
    )

    async def create(self, *subjects: str) -> Job:
        """Takes a job on."""
        return await self.store.create("ingestion", "w", [NewTask(one, {}) for one in subjects])

    @asynccontextmanager
    async def runner(self, terms: RunnerTerms = TERMS) -> AsyncIterator[TaskRunner]:
        """Works while inside."""
        works = {"ingestion": (JobState.EXTRACTING, self._work)}
        runner = TaskRunner(self.queue, works, terms)
        async with runner.running():
            yield runner

    async def task(self, job: Job, *states: JobState) -> Task:
        """Waits until the first task of a job is in one of some states, and returns it."""
        with self.changes.watch(job.id) as watch:
            async with asyncio.timeout(10):
                while True:
                    _, tasks = await self.store.job_with_tasks("w", job.id)
                    if tasks[0].state in states:
                        return tasks[0]
                    await watch.wait(1)

    async def finished(self, job: Job) -> Job:
        """Waits for the end of a job."""
        with self.changes.watch(job.id) as watch:
            async with asyncio.timeout(10):
                while not (found := await self.store.job("w", job.id)).finished:
                    await watch.wait(1)
        return found

    async def _work(self, held: HeldTask) -> TaskResult:
        self.begun.append(held.task.subject)
        step = self.steps.get(held.task.subject)
        return TaskResult({"done": True}, 1) if step is None else await step(held)
