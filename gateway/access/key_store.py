"""Keys in the gateway's database; rows stay when keys are revoked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Row, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.access.grant_columns import grants_from_column, to_grants_column
from gateway.access.key_record import KeyRecord
from gateway.database.database import Database
from gateway.database.tables import KEYS
from gateway.jobs.job_rows import moment_of


class KeyStore(Protocol):
    """Keeps keys; every method raises Unavailable where the database is lost."""

    async def read_valid(self, now: datetime) -> tuple[bool, Sequence[KeyRecord]]:
        """Returns whether there ever was a key, and those that are valid now."""
        ...

    async def read_all(self) -> Sequence[KeyRecord]:
        """Returns all keys, the latest first, revoked ones too."""
        ...

    async def add(self, record: KeyRecord) -> None:
        """Keeps a new key."""
        ...

    async def revoke(self, prefix: str, now: datetime) -> KeyRecord | None:
        """Revokes a key and returns it; None where there is none. A second time changes nothing."""
        ...


class DatabaseKeyStore:
    """Implements the `KeyStore`; makes its table at the first contact."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_valid(self, now: datetime) -> tuple[bool, Sequence[KeyRecord]]:
        """Implements the store."""
        await self._database.prepare_once(KEYS)
        unexpired = or_(KEYS.c.expire_ms.is_(None), KEYS.c.expire_ms > _milliseconds(now))
        async with self._database.reading() as connection:
            count = await connection.scalar(select(func.count()).select_from(KEYS))
            rows = await connection.execute(
                select(KEYS).where(KEYS.c.revoke_ms.is_(None), unexpired)
            )
            return bool(count), [_record_from(row) for row in rows]

    async def read_all(self) -> Sequence[KeyRecord]:
        """Implements the store."""
        await self._database.prepare_once(KEYS)
        async with self._database.reading() as connection:
            rows = await connection.execute(
                select(KEYS).order_by(KEYS.c.create_ms.desc(), KEYS.c.prefix)
            )
            return [_record_from(row) for row in rows]

    async def add(self, record: KeyRecord) -> None:
        """Implements the store."""
        await self._database.prepare_once(KEYS)
        async with self._database.transaction() as connection:
            await connection.execute(KEYS.insert().values(**_columns_of(record)))

    async def revoke(self, prefix: str, now: datetime) -> KeyRecord | None:
        """Implements the store."""
        await self._database.prepare_once(KEYS)
        async with self._database.transaction() as connection:
            await connection.execute(
                update(KEYS)
                .where(KEYS.c.prefix == prefix, KEYS.c.revoke_ms.is_(None))
                .values(revoke_ms=_milliseconds(now))
            )
            return await _read_one(connection, prefix)


async def _read_one(connection: AsyncConnection, prefix: str) -> KeyRecord | None:
    row = (await connection.execute(select(KEYS).where(KEYS.c.prefix == prefix))).one_or_none()
    return None if row is None else _record_from(row)


def _columns_of(record: KeyRecord) -> Mapping[str, Any]:
    return {
        "prefix": record.prefix,
        "name": record.name,
        "digest": record.digest,
        "grants": to_grants_column(record.grants),
        "creator": record.creator,
        "create_ms": _milliseconds(record.create_time),
        "expire_ms": None if record.expire_time is None else _milliseconds(record.expire_time),
        "revoke_ms": None if record.revoke_time is None else _milliseconds(record.revoke_time),
    }


def _record_from(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        prefix=row.prefix,
        name=row.name,
        digest=row.digest,
        grants=grants_from_column(row.grants),
        create_time=moment_of(row.create_ms),
        expire_time=None if row.expire_ms is None else moment_of(row.expire_ms),
        revoke_time=None if row.revoke_ms is None else moment_of(row.revoke_ms),
        creator=row.creator,
    )


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1e3)
