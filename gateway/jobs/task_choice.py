"""Chooses the next task: fairly between workspaces and jobs, in order for tasks of one subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database.tables import JOBS, TASKS, TURNS
from gateway.jobs.job import IN_WORK, JobState

_IN_WORK = [state.value for state in IN_WORK]
_UNFINISHED = [JobState.QUEUED.value, *_IN_WORK]
_CANDIDATES = 8
_CANDIDATES_IN_WORKSPACE = 4


def ready(now_ms: int) -> ColumnElement[bool]:
    """Holds for what may be leased: what waits and is due, and what its holder has left behind."""
    earlier = TASKS.alias()
    return and_(
        or_(
            and_(TASKS.c.state == JobState.QUEUED.value, TASKS.c.not_before_ms <= now_ms),
            and_(TASKS.c.state.in_(_IN_WORK), TASKS.c.lease_until_ms < now_ms),
        ),
        ~exists().where(
            earlier.c.workspace == TASKS.c.workspace,
            earlier.c.kind == TASKS.c.kind,
            earlier.c.subject == TASKS.c.subject,
            earlier.c.number < TASKS.c.number,
            earlier.c.state.in_(_UNFINISHED),
        ),
    )


async def candidates(
    connection: AsyncConnection, kinds: Sequence[str], now_ms: int
) -> list[tuple[int, str]]:
    """Returns number and job of some ready tasks, fairest first.

    Workspaces with little in work come first, of equal ones that whose last turn is longest ago;
    within a workspace the job that has not changed for longest, within a job the oldest task.
    """
    workspace = TASKS.c.workspace
    unfinished = and_(TASKS.c.kind.in_(kinds), TASKS.c.state.in_(_UNFINISHED))
    working = and_(TASKS.c.state.in_(_IN_WORK), TASKS.c.lease_until_ms >= now_ms)
    in_work = await _pairs(
        connection,
        select(workspace, func.sum(case((working, 1), else_=0)))
        .where(unfinished)
        .group_by(workspace),
    )
    turns = await _pairs(connection, select(TURNS.c.workspace, TURNS.c.turn))
    order = sorted(in_work, key=lambda name: (in_work[name], turns.get(name, 0), name))
    found: list[tuple[int, str]] = []
    for name in order:
        found += await _in_workspace(connection, kinds, name, now_ms)
        if len(found) >= _CANDIDATES:
            break
    return found


async def _in_workspace(
    connection: AsyncConnection, kinds: Sequence[str], workspace: str, now_ms: int
) -> list[tuple[int, str]]:
    jobs = await connection.scalars(
        select(JOBS.c.id)
        .where(JOBS.c.workspace == workspace, JOBS.c.kind.in_(kinds), JOBS.c.finish_ms.is_(None))
        .order_by(JOBS.c.update_ms, JOBS.c.id)
    )
    found: list[tuple[int, str]] = []
    for job_id in jobs.all():
        number = await connection.scalar(
            select(TASKS.c.number)
            .where(TASKS.c.job_id == job_id, ready(now_ms))
            .order_by(TASKS.c.number)
            .limit(1)
        )
        if number is not None:
            found.append((number, job_id))
            if len(found) == _CANDIDATES_IN_WORKSPACE:
                break
    return found


async def note_turn(connection: AsyncConnection, workspace: str) -> None:
    """Notes that a workspace had its turn now."""
    last = await connection.scalar(select(func.max(TURNS.c.turn)))
    turn = int(last or 0) + 1
    noted = await connection.execute(
        update(TURNS).where(TURNS.c.workspace == workspace).values(turn=turn)
    )
    if noted.rowcount:
        return
    try:
        async with connection.begin_nested():
            await connection.execute(TURNS.insert().values(workspace=workspace, turn=turn))
    except IntegrityError:
        # Another process has just noted the first turn of this workspace.
        return


async def _pairs(connection: AsyncConnection, chosen: Select[Any]) -> dict[Any, Any]:
    return {row[0]: row[1] for row in await connection.execute(chosen)}
