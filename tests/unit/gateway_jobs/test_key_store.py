"""Keys are kept, revoked and read, in either database and in the fake of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from chassis.errors import Unavailable
from gateway.access.api_key import new_api_key
from gateway.access.grants import NOTHING, Action, Grants
from gateway.access.key_record import KeyRecord
from gateway.access.key_store import DatabaseKeyStore, KeyStore
from gateway.database.database import Database
from gateway.filters import AllOf, AnyOf, Equals, FieldExists, InRange, Negation, OneOf
from tests.fakes.gateway_services.keys import FakeKeyStore, grant
from tests.fakes.postgres import PostgresServer

NOW = datetime(2026, 5, 4, 12, 0, 0, 125_000, tzinfo=UTC)
EVERY_CONDITION = AllOf(
    (
        AnyOf((Equals("category", "fiches"), OneOf("metadata.week", (1.0, 2.0)))),
        Negation(FieldExists("metadata.secret")),
        InRange("valid_at", NOW, NOW + timedelta(days=1)),
        InRange("metadata.score", at_least=0.5),
        Equals("superseded", False),
        # A text that looks like a moment stays a text.
        Equals("metadata.day", "2026-05-04T12:00:00Z"),
    )
)


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeyStore]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield FakeKeyStore()
        return
    url = f"sqlite+aiosqlite:///{tmp_path / 'data' / 'gateway.sqlite'}"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_database()
    database = Database(url)
    yield DatabaseKeyStore(database)
    await database.close()


def _record(name: str, *, age_s: int = 0, expire_time: datetime | None = None) -> KeyRecord:
    key = new_api_key()
    grants = Grants.of_all(
        grant("*", Action.READ, Action.WRITE), grant("hr", Action.READ, only=EVERY_CONDITION)
    )
    created = NOW - timedelta(seconds=age_s)
    return KeyRecord(
        key.prefix, name, key.digest, grants, created, expire_time, creator="jst_a (b)"
    )


async def test_a_key_comes_back_whole(store: KeyStore) -> None:
    """Grants with every kind of condition, moments and texts included."""
    record = _record("é", expire_time=NOW + timedelta(hours=1))

    await store.add(record)

    assert await store.read_all() == [record]
    assert await store.read_valid(NOW) == (True, [record])


async def test_valid_keys_are_neither_revoked_nor_expired(store: KeyStore) -> None:
    """A key ends at its moment, not after it; that there was one is told for ever."""
    assert await store.read_valid(NOW) == (False, [])
    expired = _record("expired", age_s=2, expire_time=NOW)
    revoked = _record("revoked", age_s=1)
    for record in (expired, revoked):
        await store.add(record)

    told = await store.revoke(revoked.prefix, NOW)

    assert told is not None
    assert told.revoke_time == NOW
    assert await store.read_valid(NOW) == (True, [])
    assert [record.name for record in await store.read_all()] == ["revoked", "expired"]


async def test_a_key_is_revoked_once(store: KeyStore) -> None:
    """A second time changes nothing; one that is not there is told of."""
    record = _record("one")
    await store.add(record)
    await store.revoke(record.prefix, NOW)

    again = await store.revoke(record.prefix, NOW + timedelta(hours=1))

    assert again is not None
    assert again.revoke_time == NOW
    assert await store.revoke("jst_000000000000", NOW) is None


async def test_what_the_database_holds_does_not_open_a_door(database_url: str) -> None:
    """No row holds the secret, or anything a caller could send in its place."""
    database = Database(database_url)
    key = new_api_key()
    record = KeyRecord(key.prefix, "one", key.digest, NOTHING, NOW)
    await DatabaseKeyStore(database).add(record)

    async with database.reading() as connection:
        row = (await connection.execute(text("SELECT * FROM justesse_keys"))).one()

    assert key.text.removeprefix(key.prefix)[1:] not in repr(row)
    assert key.digest in repr(row)
    await database.close()


async def test_grants_of_a_newer_build_grant_nothing(database_url: str) -> None:
    """Also what could be read of them: what cannot be may be what narrows it."""
    database = Database(database_url)
    store = DatabaseKeyStore(database)
    await store.add(_record("one"))
    async with database.transaction() as connection:
        grants = '[{"workspace": "*", "actions": ["read"], "filter": null}, {"workspace": "hr"}]'
        await connection.execute(
            text("UPDATE justesse_keys SET grants = CAST(:grants AS JSON)")
            if database_url.startswith("postgresql")
            else text("UPDATE justesse_keys SET grants = :grants"),
            {"grants": grants},
        )

    (record,) = await store.read_all()

    assert record.grants == NOTHING
    await database.close()


async def test_a_lost_table_does_not_come_back_empty(database_url: str) -> None:
    """An empty table would mean that no key was ever made, and let everybody in."""
    database = Database(database_url)
    store = DatabaseKeyStore(database)
    await store.add(_record("one"))
    async with database.transaction() as connection:
        await connection.execute(text("DROP TABLE justesse_keys"))

    with pytest.raises(Unavailable):
        await store.read_valid(NOW)

    await database.close()
