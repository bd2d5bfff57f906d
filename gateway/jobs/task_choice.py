"""Chooses the next task: fairly between workspaces, in order between tasks of equal subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database.tables import TASKS, TURNS
from gateway.jobs.job import IN_WORK, JobState

_IN_WORK = [state.value for state in IN_WORK]
_CANDIDATES = 8


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
            earlier.c.state.in_([JobState.QUEUED.value, *_IN_WORK]),
        ),
    )


async def candidates(
    connection: AsyncConnection, kinds: Sequence[str], now_ms: int
) -> list[tuple[int, str]]:
    """Returns number and job of the oldest ready task of each workspace, fairest first."""
    kind = TASKS.c.kind.in_(kinds)
    in_work = and_(kind, TASKS.c.state.in_(_IN_WORK), TASKS.c.lease_until_ms >= now_ms)
    workspace = TASKS.c.workspace
    oldest = await _pairs(
        connection,
        select(workspace, func.min(TASKS.c.number)).where(kind, ready(now_ms)).group_by(workspace),
    )
    if not oldest:
        return []
    working = await _pairs(
        connection, select(workspace, func.count()).where(in_work).group_by(workspace)
    )
    turns = await _pairs(connection, select(TURNS.c.workspace, TURNS.c.turn))
    order = sorted(oldest, key=lambda name: (working.get(name, 0), turns.get(name, 0), name))
    numbers = [oldest[name] for name in order[:_CANDIDATES]]
    jobs = await _pairs(
        connection, select(TASKS.c.number, TASKS.c.job_id).where(TASKS.c.number.in_(numbers))
    )
    return [(number, jobs[number]) for number in numbers if number in jobs]


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
