"""Stops what was still to be done about something that is gone."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select, update

from chassis.clock import Clock, wall
from gateway.database.database import Database
from gateway.database.tables import TASKS
from gateway.jobs.job import FINAL, IN_WORK, JobState, Task
from gateway.jobs.job_rows import locked_revision, settle, task_from


class Withdrawals:
    """Withdraws tasks by their subject, whichever job they belong to."""

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

    async def withdraw(self, kind: str, workspace: str, subject: str = "") -> tuple[Task, ...]:
        """Cancels the waiting tasks of a subject, of all of a workspace where none is named.

        Tasks in work are stopped at their next safe point. Returns the tasks that are finished.
        """
        chosen = [TASKS.c.kind == kind, TASKS.c.workspace == workspace]
        if subject:
            chosen.append(TASKS.c.subject == subject)
        unfinished = TASKS.c.state.not_in([state.value for state in FINAL])
        async with self._database.reading() as connection:
            found = await connection.scalars(
                select(TASKS.c.job_id).distinct().where(*chosen, unfinished)
            )
            job_ids = list(found)
        for job_id in job_ids:
            await self._withdraw_from(job_id, subject)
        async with self._database.reading() as connection:
            rows = await connection.execute(select(TASKS).where(*chosen, ~unfinished))
            return tuple(task_from(row) for row in rows)

    async def _withdraw_from(self, job_id: str, subject: str) -> None:
        now_ms = round(self._clock() * 1e3)
        own = [TASKS.c.job_id == job_id]
        if subject:
            own.append(TASKS.c.subject == subject)
        async with self._database.transaction() as connection:
            revision = (await locked_revision(connection, job_id) or 0) + 1
            cancelled = await connection.execute(
                update(TASKS)
                .where(*own, TASKS.c.state == JobState.QUEUED.value)
                .values(state=JobState.CANCELLED.value, revision=revision, update_ms=now_ms)
            )
            await connection.execute(
                update(TASKS)
                .where(*own, TASKS.c.state.in_([state.value for state in IN_WORK]))
                .values(cancel_requested=True)
            )
            if cancelled.rowcount:
                await settle(connection, job_id, revision, now_ms)
        self._tell(job_id)
