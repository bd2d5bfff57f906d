"""The gateway's database is made, migrated, shared and lost."""

import asyncio
import sys
from pathlib import Path

import aiosqlite
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from chassis.errors import FailedPrecondition, Unavailable
from gateway.database.database import Database
from gateway.database.schema import SCHEMA_VERSION, VERSION_TABLE, schema_version
from gateway.database.tables import GLOSSARY, KEYS, METADATA, TURNS
from tests.unit.gateway_jobs.conftest import Desk

ROOT = Path(__file__).resolve().parents[3]


async def test_the_migrations_make_the_tables_that_queries_expect(desk: Desk) -> None:
    """No column, type or index differs between the two descriptions."""

    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        return list(compare_metadata(context, METADATA))

    async with desk.database.reading() as connection:
        assert await connection.run_sync(differences) == []


_PREPARE = """
import asyncio, sys
from gateway.database.database import Database

async def prepare():
    database = Database(sys.argv[1])
    await database.prepare()
    await database.close()

asyncio.run(prepare())
"""


async def test_many_processes_may_prepare_one_database_at_once(database_url: str) -> None:
    """Each finds the tables there, whoever made them."""
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _PREPARE, database_url, cwd=ROOT)
        for _ in range(2)
    ]

    assert [await process.wait() for process in processes] == [0, 0]
    database = Database(database_url)
    async with database.reading() as connection:
        assert await connection.run_sync(schema_version) == SCHEMA_VERSION
    await database.close()


async def test_tables_of_a_newer_build_are_left_alone(desk: Desk) -> None:
    """The error names both versions and what to do."""
    async with desk.database.transaction() as connection:
        await connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))

    with pytest.raises(FailedPrecondition, match=f"9999.*{SCHEMA_VERSION}.*newer build"):
        await desk.database.prepare()


async def test_a_transaction_that_fails_leaves_nothing(desk: Desk) -> None:
    """The error comes out as it is, and what was written before it is gone."""

    async def fail() -> None:
        async with desk.database.transaction() as connection:
            await connection.execute(TURNS.insert().values(workspace="w", turn=1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    async with desk.database.reading() as connection:
        assert (await connection.execute(TURNS.select())).all() == []


async def test_readers_do_not_wait_for_a_writer(desk: Desk) -> None:
    """They see the last committed state while a transaction is open."""
    async with desk.database.transaction() as writing:
        await writing.execute(TURNS.insert().values(workspace="w", turn=1))
        async with desk.database.reading() as connection:
            assert (await connection.execute(TURNS.select())).all() == []


async def test_a_lost_database_is_said_to_be_lost(tmp_path: Path) -> None:
    """The error says why in one line; nothing of the driver reaches the caller."""
    file = tmp_path / "gateway.sqlite"
    file.write_bytes(b"no database at all" * 100)
    database = Database(f"sqlite+aiosqlite:///{file}")

    with pytest.raises(Unavailable, match="file is not a database") as caught:
        await database.prepare()
    await database.close()

    assert caught.value.reason == "DATABASE_LOST"
    assert "\n" not in caught.value.message


async def test_a_database_that_is_held_is_given_up_after_a_time(tmp_path: Path) -> None:
    """A writer waits for another one, and not for ever."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'gateway.sqlite'}"
    first, second = Database(url), Database(url, timeout_s=0.2)
    await first.prepare()

    async def write() -> None:
        async with second.transaction() as connection:
            await connection.execute(TURNS.insert().values(workspace="v", turn=1))

    async with first.transaction() as writing:
        await writing.execute(TURNS.insert().values(workspace="w", turn=1))
        with pytest.raises(Unavailable):
            await write()
    await write()
    await first.close()
    await second.close()


async def test_closing_frees_what_a_cancelled_call_left_locked(tmp_path: Path) -> None:
    """A connection that the pool has lost, in the middle of a change, holds up nobody after it."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'gateway.sqlite'}"
    database = Database(url, timeout_s=1.0)
    await database.prepare()
    async with database.reading() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver in database._opened
    # Neither given back nor closed, as after a call that was cancelled twice.
    lost = await aiosqlite.connect(tmp_path / "gateway.sqlite")
    await lost.execute("BEGIN IMMEDIATE")
    database._opened.add(lost)
    await database.close()

    following = Database(url, timeout_s=1.0)
    await following.prepare()
    async with following.transaction() as connection:
        await connection.execute(text("DELETE FROM justesse_jobs"))
    await following.close()


async def test_first_contacts_at_the_same_time_prepare_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys, glossaries and switches are first asked for side by side when a gateway starts."""
    database, prepared = Database(database_url), 0
    prepare = database.prepare

    async def counted() -> None:
        nonlocal prepared
        prepared += 1
        await prepare()

    monkeypatch.setattr(database, "prepare", counted)
    await asyncio.gather(*(database.prepare_once(table) for table in (TURNS, KEYS, GLOSSARY) * 2))
    await database.close()

    assert prepared == 1


async def test_what_is_lost_later_does_not_come_back_empty(tmp_path: Path) -> None:
    """Not even at the first contact of somebody who keeps something in another table."""
    file = tmp_path / "gateway.sqlite"
    database = Database(f"sqlite+aiosqlite:///{file}")
    await database.prepare_once(KEYS)
    await database.close()
    file.unlink()

    for table in (KEYS, GLOSSARY):
        await database.prepare_once(table)
        with pytest.raises(Unavailable):
            async with database.reading() as connection:
                await connection.execute(table.select())
    await database.close()


async def test_a_lost_database_is_prepared_at_the_next_contact(tmp_path: Path) -> None:
    """Until it has answered once, every contact tries."""
    folder = tmp_path / "data"
    folder.write_text("in the way of the folder")
    database = Database(f"sqlite+aiosqlite:///{folder / 'gateway.sqlite'}")
    with pytest.raises(Unavailable):
        await database.prepare_once(KEYS)
    folder.unlink()

    await database.prepare_once(KEYS)
    async with database.reading() as connection:
        assert (await connection.execute(KEYS.select())).all() == []
    await database.close()
