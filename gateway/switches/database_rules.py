"""Overrides, rollouts and the audit of switches in the gateway's database.

Every change bumps one version row first, which orders the changes of all replicas and tells the
others that there is something to read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database.database import Database
from gateway.database.tables import (
    SWITCH_CHANGES,
    SWITCH_OBSERVATIONS,
    SWITCH_OVERRIDES,
    SWITCH_ROLLOUTS,
    SWITCH_VERSIONS,
)
from gateway.jobs.job_rows import moment_of
from gateway.switches.change import OBSERVED, ChangeKind, SwitchChange
from gateway.switches.rules import Rollout, SwitchRules
from gateway.switches.values import DEFINITIONS, SwitchValue, written

KEPT_CHANGES = 10_000
CHANNEL = "justesse_switches"
"""What PostgreSQL tells those that listen of every change."""
_VERSION = SWITCH_VERSIONS.c.name == "switches"

_log = structlog.get_logger("gateway.switches")


class DatabaseRuleStore:
    """Implements the `RuleStore`; makes its tables at the first contact."""

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        kept_changes: int = KEPT_CHANGES,
    ) -> None:
        self._database = database
        self._kept_changes = kept_changes
        self._now = now

    async def version(self) -> int:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        async with self._database.reading() as connection:
            version = await connection.scalar(select(SWITCH_VERSIONS.c.version).where(_VERSION))
            return int(version or 0)

    async def read(self) -> SwitchRules:
        """Implements the store."""
        version = await self.version()
        overrides: dict[str, dict[str, SwitchValue]] = {}
        rollouts: dict[str, Rollout] = {}
        async with self._database.reading() as connection:
            for row in await connection.execute(select(SWITCH_OVERRIDES)):
                value = _value_of(row.config_key, row.config_value)
                if value is not None:
                    overrides.setdefault(row.workspace, {})[row.config_key] = value
            for row in await connection.execute(select(SWITCH_ROLLOUTS)):
                value = _value_of(row.config_key, row.config_value)
                if value is not None:
                    rollouts[row.config_key] = Rollout(row.config_key, value, row.percent)
        return SwitchRules(version, overrides, rollouts)

    async def announce(self) -> None:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        async with self._database.transaction() as connection:
            await _bump(connection)

    async def put_override(
        self, workspace: str, key: str, value: SwitchValue | None, actor: str
    ) -> bool:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        one = (SWITCH_OVERRIDES.c.workspace == workspace) & (SWITCH_OVERRIDES.c.config_key == key)
        async with self._database.transaction() as connection:
            await _bump(connection)
            old = await connection.scalar(select(SWITCH_OVERRIDES.c.config_value).where(one))
            new = None if value is None else written(value)
            if new == old:
                return False
            await connection.execute(delete(SWITCH_OVERRIDES).where(one))
            if new is not None:
                row = {"workspace": workspace, "config_key": key, "config_value": new}
                await connection.execute(SWITCH_OVERRIDES.insert().values(row))
            await self._note(connection, actor, ChangeKind.OVERRIDE, workspace, key, old, new)
        return True

    async def clear_workspace(self, workspace: str, actor: str) -> None:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        own = SWITCH_OVERRIDES.c.workspace == workspace
        async with self._database.transaction() as connection:
            rows = (await connection.execute(select(SWITCH_OVERRIDES).where(own))).all()
            if not rows:
                return
            await _bump(connection)
            await connection.execute(delete(SWITCH_OVERRIDES).where(own))
            for row in rows:
                await self._note(
                    connection,
                    actor,
                    ChangeKind.OVERRIDE,
                    workspace,
                    row.config_key,
                    row.config_value,
                    None,
                )

    async def put_rollout(self, key: str, rollout: Rollout | None, actor: str) -> bool:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        one = SWITCH_ROLLOUTS.c.config_key == key
        async with self._database.transaction() as connection:
            await _bump(connection)
            row = (await connection.execute(select(SWITCH_ROLLOUTS).where(one))).one_or_none()
            old = None if row is None else _words(row.config_value, row.percent)
            new = None if rollout is None else _words(written(rollout.value), rollout.percent)
            if new == old:
                return False
            await connection.execute(delete(SWITCH_ROLLOUTS).where(one))
            if rollout is not None:
                values = {
                    "config_key": key,
                    "config_value": written(rollout.value),
                    "percent": rollout.percent,
                }
                await connection.execute(SWITCH_ROLLOUTS.insert().values(values))
            await self._note(connection, actor, ChangeKind.ROLLOUT, "", key, old, new)
        return True

    async def note_values(
        self, values: Mapping[str, str | None], actor: str = OBSERVED
    ) -> list[str]:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        async with self._database.reading() as connection:
            if not _differing(await _observed(connection), values):
                return []
        async with self._database.transaction() as connection:
            await _bump(connection)
            known = await _observed(connection)
            differing = _differing(known, values)
            for key in differing:
                row = {"config_key": key, "config_value": values[key]}
                one = SWITCH_OBSERVATIONS.c.config_key == key
                await connection.execute(delete(SWITCH_OBSERVATIONS).where(one))
                await connection.execute(SWITCH_OBSERVATIONS.insert().values(row))
                if key in known:
                    old, new = known[key], values[key]
                    await self._note(connection, actor, ChangeKind.SWITCH, "", key, old, new)
        return [key for key in differing if key in known]

    async def changes(self, *, before: int | None, limit: int) -> Sequence[SwitchChange]:
        """Implements the store."""
        await self._database.prepare_once(SWITCH_VERSIONS)
        query = select(SWITCH_CHANGES).order_by(SWITCH_CHANGES.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(SWITCH_CHANGES.c.number < before)
        async with self._database.reading() as connection:
            return [
                SwitchChange(
                    row.number,
                    moment_of(row.moment_ms),
                    row.actor,
                    ChangeKind(row.kind),
                    row.workspace,
                    row.config_key,
                    row.old_value,
                    row.new_value,
                )
                for row in await connection.execute(query)
            ]

    async def _note(
        self,
        connection: AsyncConnection,
        actor: str,
        kind: ChangeKind,
        workspace: str,
        key: str,
        old: str | None,
        new: str | None,
    ) -> None:
        noted = await connection.execute(
            SWITCH_CHANGES.insert()
            .values(
                moment_ms=round(self._now().timestamp() * 1e3),
                actor=actor,
                kind=kind.value,
                workspace=workspace,
                config_key=key,
                old_value=old,
                new_value=new,
            )
            .returning(SWITCH_CHANGES.c.number)
        )
        oldest = noted.scalar_one() - self._kept_changes
        await connection.execute(delete(SWITCH_CHANGES).where(SWITCH_CHANGES.c.number <= oldest))


async def _bump(connection: AsyncConnection) -> None:
    """Takes the version row, which other replicas wait for until the transaction ends."""
    raised = SWITCH_VERSIONS.c.version + 1
    await connection.execute(update(SWITCH_VERSIONS).where(_VERSION).values(version=raised))
    if connection.dialect.name == "postgresql":
        # Sent when the transaction commits.
        await connection.execute(select(func.pg_notify(CHANNEL, "")))


async def _observed(connection: AsyncConnection) -> dict[str, str | None]:
    rows = await connection.execute(select(SWITCH_OBSERVATIONS))
    return {row.config_key: row.config_value for row in rows}


def _differing(known: Mapping[str, str | None], values: Mapping[str, str | None]) -> list[str]:
    return [key for key, value in values.items() if key not in known or known[key] != value]


def _value_of(key: str, text: str) -> SwitchValue | None:
    definition = DEFINITIONS.get(key)
    if definition is None:
        _log.warning("rule of an unknown switch left out", key=key)
        return None
    try:
        return definition.read(text)
    except ValueError as error:
        _log.warning("rule left out", key=key, error=str(error))
        return None


def _words(value: str, percent: float) -> str:
    return f"{value} for {percent:g} %"
