"""Takes jobs on, shows them, cancels, retries and at last removes them.

Whoever adds a kind of durable work (taking files in is one, re-embedding a workspace another):

1. choose a `kind` and create a job with one task a unit of work that may fail by itself; what the
   work needs to know goes into the task's payload as plain JSON data;
2. run a `gateway.jobs.task_runner.TaskRunner` with what does such a task; it leases tasks, renews
   the leases, and notes results, failures and retries.

Work that has no end and no result, such as a mover that looks for passages to move, needs no job:
it takes a `gateway.jobs.leases.NamedLeases` lease under a name of its own.

A task may be done twice when a process dies after the work and before it is noted: the work itself
must come to the same end then.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from sqlalchemy import delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chassis.clock import Clock, wall
from chassis.errors import FailedPrecondition, InvalidArgument
from gateway.database.database import Database
from gateway.database.tables import JOBS, TASKS
from gateway.jobs.job import IN_WORK, Job, JobPage, JobState, NewTask, Task
from gateway.jobs.job_rows import (
    failure_values,
    locked_revision,
    read_job,
    read_jobs,
    read_tasks,
    settle,
)
from gateway.jobs.task_span import with_submission

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 500

Change = Callable[[AsyncConnection, int, int], Awaitable[int]]
"""Changes tasks of a locked job under a new revision and a time; returns how many."""


class JobStore:
    """Keeps jobs in the gateway's database; every method commits before it returns."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = wall,
        tell: Callable[[str], None] = lambda job_id: None,
    ) -> None:
        """Reads moments from `clock`, and calls `tell` with the id of every job that changed."""
        self._database = database
        self._clock = clock
        self._tell = tell

    def new_id(self) -> str:
        """Returns an id for a job that is to be created, for what must bear it before."""
        return new_job_id(self._now_ms())

    async def create(
        self, kind: str, workspace: str, tasks: Sequence[NewTask], *, job_id: str = ""
    ) -> Job:
        """Takes a job on; it is durable once this returns. ValueError without tasks."""
        if not tasks:
            raise ValueError("a job needs at least one task")
        now_ms = self._now_ms()
        job_id = job_id or new_job_id(now_ms)
        async with self._database.transaction() as connection:
            await connection.execute(
                JOBS.insert().values(
                    id=job_id,
                    kind=kind,
                    workspace=workspace,
                    state=JobState.QUEUED.value,
                    revision=1,
                    create_ms=now_ms,
                    update_ms=now_ms,
                )
            )
            await connection.execute(
                TASKS.insert(),
                [_new_row(task, job_id, kind, workspace, now_ms) for task in tasks],
            )
            await settle(connection, job_id, 1, now_ms)
            return await read_job(connection, workspace, job_id)

    async def job(self, workspace: str, job_id: str) -> Job:
        """Reads one job; NotFound where the workspace has none of that id."""
        async with self._database.reading() as connection:
            return await read_job(connection, workspace, job_id)

    async def job_with_tasks(
        self, workspace: str, job_id: str, after_revision: int = -1
    ) -> tuple[Job, tuple[Task, ...]]:
        """Reads a job and those of its tasks that changed after a revision, at one moment."""
        async with self._database.reading() as connection:
            job = await read_job(connection, workspace, job_id)
            tasks = await read_tasks(connection, job_id, after_revision)
            # Under READ COMMITTED the second statement may see a later state than the first.
            return job, tuple(task for task in tasks if task.revision <= job.revision)

    async def page(
        self, workspace: str, page_size: int = 0, page_token: str = "", kind: str = ""
    ) -> JobPage:
        """Lists a workspace's jobs, newest first; `page_size` 0 means 50, at most 500.

        InvalidArgument: page size out of range, page token not of this list.
        """
        if not 0 <= page_size <= MAX_PAGE_SIZE:
            raise InvalidArgument(
                f"page_size must be from 0 to {MAX_PAGE_SIZE}, not {page_size}", field="page_size"
            )
        if page_token and not (len(page_token) == 32 and page_token.isalnum()):
            raise InvalidArgument(
                "page_token was not given by this service; begin without one", field="page_token"
            )
        size = page_size or DEFAULT_PAGE_SIZE
        chosen = select(JOBS).where(JOBS.c.workspace == workspace)
        if kind:
            chosen = chosen.where(JOBS.c.kind == kind)
        if page_token:
            chosen = chosen.where(JOBS.c.id < page_token)
        async with self._database.reading() as connection:
            jobs = await read_jobs(connection, chosen.order_by(JOBS.c.id.desc()).limit(size + 1))
        return JobPage(jobs[:size], jobs[size - 1].id if len(jobs) > size else "")

    async def cancel(self, workspace: str, job_id: str) -> Job:
        """Cancels what is queued, and asks those who work on the rest to stop.

        A job that is finished stays as it is. NotFound where there is none.
        """

        async def change(connection: AsyncConnection, revision: int, now_ms: int) -> int:
            own = TASKS.c.job_id == job_id
            queued = await connection.execute(
                update(TASKS)
                .where(own, TASKS.c.state == JobState.QUEUED.value)
                .values(state=JobState.CANCELLED.value, revision=revision, update_ms=now_ms)
            )
            working = await connection.execute(
                update(TASKS)
                .where(own, TASKS.c.state.in_([state.value for state in IN_WORK]))
                .values(cancel_requested=True)
            )
            return int(queued.rowcount + working.rowcount)

        return await self._changed(workspace, job_id, change)

    async def retry(self, workspace: str, job_id: str) -> Job:
        """Queues the failed and cancelled tasks of a finished job again, as if they were new.

        A task whose subject a later task of the same kind has taken up stays as it is: it would
        bring an older state back. FailedPrecondition: the job is not finished, or nothing of it
        can be done again. NotFound where there is none.
        """

        async def change(connection: AsyncConnection, revision: int, now_ms: int) -> int:
            later = TASKS.alias()
            superseded = exists().where(
                later.c.workspace == TASKS.c.workspace,
                later.c.kind == TASKS.c.kind,
                later.c.subject == TASKS.c.subject,
                later.c.number > TASKS.c.number,
                later.c.state.not_in([JobState.FAILED.value, JobState.CANCELLED.value]),
            )
            queued = await connection.execute(
                update(TASKS)
                .where(
                    TASKS.c.job_id == job_id,
                    TASKS.c.state.in_([JobState.FAILED.value, JobState.CANCELLED.value]),
                    ~superseded,
                )
                .values(
                    state=JobState.QUEUED.value,
                    revision=revision,
                    update_ms=now_ms,
                    cancel_requested=False,
                    attempt_count=0,
                    not_before_ms=now_ms,
                    **failure_values(None),
                )
            )
            if not queued.rowcount:
                raise FailedPrecondition(
                    f"nothing of job {job_id} can be done again: no file of it failed or was "
                    "cancelled, or each was uploaded again later",
                    reason="NOTHING_TO_RETRY",
                )
            return int(queued.rowcount)

        return await self._changed(workspace, job_id, change, finished_only=True)

    async def states(self, job_ids: Collection[str]) -> dict[str, list[JobState]]:
        """Returns the states of the tasks of jobs, in order; jobs not there are left out."""
        found: dict[str, list[JobState]] = {}
        async with self._database.reading() as connection:
            rows = await connection.execute(
                select(TASKS.c.job_id, TASKS.c.state)
                .where(TASKS.c.job_id.in_(job_ids))
                .order_by(TASKS.c.number)
            )
        for job_id, state in rows:
            found.setdefault(job_id, []).append(JobState(state))
        return found

    async def finished_before(self, kind: str, moment_ms: int, limit: int = 100) -> tuple[str, ...]:
        """Lists jobs that were finished before a moment, oldest first."""
        async with self._database.reading() as connection:
            rows = await connection.scalars(
                select(JOBS.c.id)
                .where(JOBS.c.kind == kind, JOBS.c.finish_ms < moment_ms)
                .order_by(JOBS.c.finish_ms)
                .limit(limit)
            )
            return tuple(rows)

    async def remove(self, job_id: str) -> tuple[Task, ...]:
        """Removes a finished job; returns its tasks, none where it is not finished or not there."""
        async with self._database.transaction() as connection:
            await locked_revision(connection, job_id)
            finished = await connection.scalar(
                select(JOBS.c.id).where(JOBS.c.id == job_id, JOBS.c.finish_ms.is_not(None))
            )
            if finished is None:
                return ()
            tasks = await read_tasks(connection, job_id)
            await connection.execute(delete(TASKS).where(TASKS.c.job_id == job_id))
            await connection.execute(delete(JOBS).where(JOBS.c.id == job_id))
            return tasks

    async def _changed(
        self, workspace: str, job_id: str, change: Change, *, finished_only: bool = False
    ) -> Job:
        now_ms = self._now_ms()
        async with self._database.transaction() as connection:
            revision = await locked_revision(connection, job_id)
            job = await read_job(connection, workspace, job_id)
            if finished_only and not job.finished:
                raise FailedPrecondition(
                    f"job {job_id} is not finished ({job.state.value}); wait for its end, or "
                    "cancel it first",
                    reason="JOB_NOT_FINISHED",
                )
            next_revision = (revision or 0) + 1
            if await change(connection, next_revision, now_ms):
                await settle(connection, job_id, next_revision, now_ms)
            changed = await read_job(connection, workspace, job_id)
        self._tell(job_id)
        return changed

    def _now_ms(self) -> int:
        return round(self._clock() * 1e3)


def new_job_id(now_ms: int) -> str:
    """Returns an id of 32 hexadecimal digits; ids sort by the time at which they were made."""
    return f"{now_ms:012x}{secrets.token_hex(10)}"


def time_of_job_id(job_id: str) -> float:
    """Returns when an id was made, in seconds since 1970 UTC; ValueError where it is none."""
    return int(job_id[:12], 16) / 1e3


def _new_row(task: NewTask, job_id: str, kind: str, workspace: str, now_ms: int) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "kind": kind,
        "workspace": workspace,
        "subject": task.subject,
        "state": (JobState.FAILED if task.failure else JobState.QUEUED).value,
        "revision": 1,
        "payload": with_submission(task.payload),
        "done_count": 0,
        "total_count": 0,
        "attempt_count": 0,
        "not_before_ms": now_ms,
        "cancel_requested": False,
        "lease_holder": "",
        "lease_token": 0,
        "lease_until_ms": 0,
        "update_ms": now_ms,
        **failure_values(task.failure),
    }
