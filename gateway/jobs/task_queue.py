"""Hands tasks out under leases, fairly between workspaces, and notes what became of them.

A lease has an expiry and a token. Whoever leases a task gets a token that nobody had before, and
every later write names it: what a process notes after its lease was taken over is refused
(LeaseLost) and changes nothing. Clocks of several machines may differ by less than a lease without
harm; more costs double work, and no wrong note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from sqlalchemy import ColumnElement, and_, func, select, update

from chassis.clock import Clock, wall
from gateway.database.database import Database
from gateway.database.tables import TASKS
from gateway.jobs.job import IN_WORK, JobState, Record, Task, TaskFailure
from gateway.jobs.job_rows import Values, failure_values, locked_revision, settle, task_from
from gateway.jobs.task_choice import candidates, note_turn, ready

_IN_WORK = [state.value for state in IN_WORK]
_NOT_LEASED: Values = {"lease_holder": "", "lease_until_ms": 0}


class LeaseLost(Exception):  # noqa: N818 - says what happened
    """Somebody else has the task now; leave it alone."""


class LeaseState(Enum):
    """What a renewal found."""

    HELD = "held"
    CANCEL_REQUESTED = "cancel_requested"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class LeasedTask:
    """A task in one's hands; `token` proves it."""

    task: Task
    holder: str
    token: int


class TaskQueue:
    """The tasks that wait, and those in work. `holder` names a process, 1 to 64 characters."""

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

    async def lease(
        self, kinds: Sequence[str], first_state: JobState, holder: str, seconds: float
    ) -> LeasedTask | None:
        """Takes the next task for some seconds and puts it into `first_state`; None if none waits.

        Workspaces take turns, the one with the fewest tasks in work first, and so do the jobs of a
        workspace. Tasks of equal subject keep their order.
        """
        now_ms = self._now_ms()
        async with self._database.reading() as connection:
            chosen = await candidates(connection, kinds, now_ms)
        for number, job_id in chosen:
            leased = await self._take(number, job_id, first_state, holder, seconds)
            if leased is not None:
                return leased
        return None

    async def renew(self, leased: LeasedTask, seconds: float) -> LeaseState:
        """Holds a task for some seconds more, from now."""
        until_ms = self._now_ms() + round(seconds * 1e3)
        async with self._database.transaction() as connection:
            renewed = await connection.execute(
                update(TASKS).where(_held(leased)).values(lease_until_ms=until_ms)
            )
            if not renewed.rowcount:
                return LeaseState.LOST
            requested = await connection.scalar(
                select(TASKS.c.cancel_requested).where(TASKS.c.number == leased.task.number)
            )
        return LeaseState.CANCEL_REQUESTED if requested else LeaseState.HELD

    async def advance(
        self,
        leased: LeasedTask,
        state: JobState,
        *,
        done_count: int = 0,
        total_count: int = 0,
        result: Record | None = None,
    ) -> None:
        """Notes how far a task in work is; raises LeaseLost.

        `result` is what the next attempt should know if this one does not come to its end.
        """
        values: Values = {"state": state.value, "done_count": done_count}
        if result is not None:
            values["result"] = result
        await self._note(leased, values | {"total_count": total_count})

    async def finish(self, leased: LeasedTask, result: Record, *, count: int = 0) -> None:
        """Notes a task as done, with its result and how many units it has; raises LeaseLost."""
        values = {"state": JobState.INDEXED.value, "result": result}
        counts = {"done_count": count, "total_count": count}
        await self._note(leased, values | counts | failure_values(None) | _NOT_LEASED)

    async def fail(self, leased: LeasedTask, failure: TaskFailure) -> None:
        """Notes a task as failed for good; raises LeaseLost."""
        values = {"state": JobState.FAILED.value}
        await self._note(leased, values | failure_values(failure) | _NOT_LEASED)

    async def stop(self, leased: LeasedTask) -> None:
        """Notes a task as cancelled; raises LeaseLost."""
        await self._note(leased, {"state": JobState.CANCELLED.value} | _NOT_LEASED)

    async def defer(self, leased: LeasedTask, failure: TaskFailure, pause_s: float) -> None:
        """Puts a task back, to be tried again after a pause; raises LeaseLost."""
        not_before_ms = self._now_ms() + round(pause_s * 1e3)
        await self._note(
            leased,
            {"state": JobState.QUEUED.value, "not_before_ms": not_before_ms}
            | failure_values(failure)
            | _NOT_LEASED,
        )

    async def put_back(self, leased: LeasedTask) -> None:
        """Puts a task back that was not tried to its end, as if it had not been leased."""
        attempts = max(leased.task.attempt_count - 1, 0)
        values = {"state": JobState.QUEUED.value, "attempt_count": attempts}
        await self._note(leased, values | _NOT_LEASED)

    async def free(self, holder: str) -> int:
        """Ends all leases of a process that is known to be dead; returns how many."""
        async with self._database.transaction() as connection:
            freed = await connection.execute(
                update(TASKS)
                .where(TASKS.c.lease_holder == holder, TASKS.c.state.in_(_IN_WORK))
                .values(lease_until_ms=0)
            )
            return int(freed.rowcount)

    async def counts(self, kind: str) -> dict[JobState, int]:
        """Counts the tasks of a kind that wait or are in work, by state."""
        async with self._database.reading() as connection:
            rows = await connection.execute(
                select(TASKS.c.state, func.count())
                .where(TASKS.c.kind == kind, TASKS.c.state.in_([JobState.QUEUED.value, *_IN_WORK]))
                .group_by(TASKS.c.state)
            )
            return {JobState(state): int(count) for state, count in rows}

    async def _take(
        self, number: int, job_id: str, state: JobState, holder: str, seconds: float
    ) -> LeasedTask | None:
        now_ms = self._now_ms()
        async with self._database.transaction() as connection:
            revision = await locked_revision(connection, job_id)
            if revision is None:
                return None
            taken = await connection.execute(
                update(TASKS)
                .where(TASKS.c.number == number, ready(now_ms))
                .values(
                    state=state.value,
                    revision=revision + 1,
                    lease_holder=holder,
                    lease_token=TASKS.c.lease_token + 1,
                    lease_until_ms=now_ms + round(seconds * 1e3),
                    attempt_count=TASKS.c.attempt_count + 1,
                    update_ms=now_ms,
                )
            )
            if not taken.rowcount:
                return None
            row = (await connection.execute(select(TASKS).where(TASKS.c.number == number))).one()
            await settle(connection, job_id, revision + 1, now_ms)
            await note_turn(connection, row.workspace)
        self._tell(job_id)
        return LeasedTask(task_from(row), holder, row.lease_token)

    async def _note(self, leased: LeasedTask, values: Values) -> None:
        now_ms = self._now_ms()
        job_id = leased.task.job_id
        async with self._database.transaction() as connection:
            revision = (await locked_revision(connection, job_id) or 0) + 1
            noted = await connection.execute(
                update(TASKS)
                .where(_held(leased))
                .values(revision=revision, update_ms=now_ms, **values)
            )
            if not noted.rowcount:
                raise LeaseLost(f"task {leased.task.number} is in other hands")
            await settle(connection, job_id, revision, now_ms)
        self._tell(job_id)

    def _now_ms(self) -> int:
        return round(self._clock() * 1e3)


def _held(leased: LeasedTask) -> ColumnElement[bool]:
    return and_(
        TASKS.c.number == leased.task.number,
        TASKS.c.lease_token == leased.token,
        TASKS.c.state.in_(_IN_WORK),
    )
