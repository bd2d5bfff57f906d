"""Reads jobs and tasks from rows, and settles a job after its tasks have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chassis.errors import NotFound
from gateway.database.tables import JOBS, TASKS
from gateway.jobs.job import FINAL, Job, JobState, Task, TaskFailure, state_of

Values = dict[str, Any]


async def locked_revision(connection: AsyncConnection, job_id: str) -> int | None:
    """Locks a job until the transaction ends; returns its revision, None where there is none.

    Whoever changes a task locks its job first: the job's state is computed from all its tasks, and
    two transactions side by side would each miss what the other did.
    """
    found: int | None = await connection.scalar(
        select(JOBS.c.revision).where(JOBS.c.id == job_id).with_for_update()
    )
    return found


async def settle(connection: AsyncConnection, job_id: str, revision: int, now_ms: int) -> JobState:
    """Gives a locked job the state of its tasks, under a new revision."""
    rows = await connection.execute(
        select(TASKS.c.state, func.count()).where(TASKS.c.job_id == job_id).group_by(TASKS.c.state)
    )
    state = state_of({JobState(name): int(count) for name, count in rows})
    await connection.execute(
        update(JOBS)
        .where(JOBS.c.id == job_id)
        .values(
            state=state.value,
            revision=revision,
            update_ms=now_ms,
            finish_ms=now_ms if state in FINAL else None,
        )
    )
    return state


async def read_job(connection: AsyncConnection, workspace: str, job_id: str) -> Job:
    """Reads one job; NotFound where the workspace has none of that id."""
    jobs = await read_jobs(
        connection, select(JOBS).where(JOBS.c.id == job_id, JOBS.c.workspace == workspace)
    )
    if not jobs:
        raise NotFound(
            f"workspace {workspace} has no job {job_id!r}; finished jobs are removed after a time",
            reason="JOB_NOT_FOUND",
        )
    return jobs[0]


async def read_jobs(connection: AsyncConnection, chosen: Select[Any]) -> tuple[Job, ...]:
    """Reads the jobs that a SELECT of whole rows chooses, in its order."""
    rows = (await connection.execute(chosen)).all()
    sums: dict[str, list[Row[Any]]] = {row.id: [] for row in rows}
    if rows:
        counted = await connection.execute(
            select(
                TASKS.c.job_id,
                TASKS.c.state,
                func.count().label("tasks"),
                func.sum(TASKS.c.done_count).label("done"),
                func.sum(TASKS.c.total_count).label("total"),
            )
            .where(TASKS.c.job_id.in_(sums))
            .group_by(TASKS.c.job_id, TASKS.c.state)
        )
        for row in counted:
            sums[row.job_id].append(row)
    return tuple(_job(row, sums[row.id]) for row in rows)


async def read_tasks(
    connection: AsyncConnection, job_id: str, after_revision: int = -1
) -> tuple[Task, ...]:
    """Reads the tasks of a job that changed after a revision, by number."""
    rows = await connection.execute(
        select(TASKS)
        .where(and_(TASKS.c.job_id == job_id, TASKS.c.revision > after_revision))
        .order_by(TASKS.c.number)
    )
    return tuple(task_from(row) for row in rows)


def task_from(row: Row[Any]) -> Task:
    """Reads a whole row of tasks."""
    failure = None
    if row.error_reason:
        failure = TaskFailure(row.error_status, row.error_reason, row.message, row.error_field)
    return Task(
        number=row.number,
        job_id=row.job_id,
        workspace=row.workspace,
        subject=row.subject,
        state=JobState(row.state),
        revision=row.revision,
        payload=row.payload,
        result=row.result,
        failure=failure,
        done_count=row.done_count,
        total_count=row.total_count,
        attempt_count=row.attempt_count,
        cancel_requested=row.cancel_requested,
    )


def failure_values(failure: TaskFailure | None) -> Values:
    """Returns the columns of a failure, all empty for none."""
    if failure is None:
        return {"error_status": "", "error_reason": "", "error_field": "", "message": ""}
    return {
        "error_status": failure.status,
        "error_reason": failure.reason,
        "error_field": failure.field[:64],
        # PostgreSQL keeps no NUL in a text.
        "message": failure.message.replace("\0", ""),
    }


def moment_of(milliseconds: int) -> datetime:
    """Returns a moment in UTC."""
    return datetime.fromtimestamp(milliseconds / 1e3, UTC)


def _job(row: Row[Any], sums: Iterable[Row[Any]]) -> Job:
    counts: Mapping[JobState, int] = {JobState(each.state): int(each.tasks) for each in sums}
    return Job(
        id=row.id,
        kind=row.kind,
        workspace=row.workspace,
        state=JobState(row.state),
        revision=row.revision,
        create_time=moment_of(row.create_ms),
        update_time=moment_of(row.update_ms),
        finish_time=None if row.finish_ms is None else moment_of(row.finish_ms),
        counts=counts,
        done_count=sum(int(each.done) for each in sums),
        total_count=sum(int(each.total) for each in sums),
    )
