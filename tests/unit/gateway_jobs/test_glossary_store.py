"""Glossaries are kept, changed alone and cleared, in either database and in the fake of tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from chassis.errors import AlreadyExists, Unavailable
from gateway.database.database import Database
from gateway.glossary.editing import deleting, putting
from gateway.glossary.entry import Glossary, GlossaryEntry
from gateway.glossary.store import DatabaseGlossaryStore, GlossaryStore
from tests.fakes.gateway_services.glossary import FakeGlossaryStore
from tests.fakes.postgres import PostgresServer

BL = GlossaryEntry("BL", ("bon de livraison", "bordereau"))
DEB = GlossaryEntry("DEB", ("déclaration d'échange de biens",))
ÉTÉ = GlossaryEntry("été", ("saison haute",))
FR = ("fr",)


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GlossaryStore]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield FakeGlossaryStore()
        return
    url = f"sqlite+aiosqlite:///{tmp_path / 'data' / 'gateway.sqlite'}"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_database()
    database = Database(url)
    yield DatabaseGlossaryStore(database)
    await database.close()


async def test_entries_come_back_by_name_with_their_synonyms_in_order(
    store: GlossaryStore,
) -> None:
    """Whatever the database's collation; nothing of them is seen in another workspace."""
    await store.change("a", putting([ÉTÉ, DEB, BL], FR))

    assert await store.read("a") == Glossary((BL, DEB, ÉTÉ), 1)
    assert await store.read("b") == Glossary()
    assert await store.versions() == {"a": 1}


async def test_the_version_grows_with_each_change_and_with_nothing_else(
    store: GlossaryStore,
) -> None:
    """Putting what is there, and deleting what is not, are no changes."""
    await store.change("a", putting([BL, DEB], FR))
    same = await store.change("a", putting([BL], FR))
    none = await store.change("a", deleting(["inconnu"]))
    other = await store.change("a", putting([GlossaryEntry("bl", ("connaissement",))], FR))
    gone = await store.change("a", deleting(["deb"]))

    assert [after.version for _, after in (same, none, other, gone)] == [1, 1, 2, 3]
    assert other[0].entries == (BL, DEB)
    assert gone[1].entries == (GlossaryEntry("bl", ("connaissement",)),)
    assert await store.read("a") == gone[1]


async def test_a_refused_change_leaves_everything_as_it_was(store: GlossaryStore) -> None:
    """Of several entries none is stored where one is refused."""
    await store.change("a", putting([BL], FR))

    with pytest.raises(AlreadyExists):
        await store.change("a", putting([DEB, GlossaryEntry("BLs", ("bons",))], FR))

    assert await store.read("a") == Glossary((BL,), 1)


async def test_a_cleared_glossary_goes_on_with_its_version(store: GlossaryStore) -> None:
    """So that no replica takes a later glossary of that slug for the one it knows."""
    await store.change("a", putting([BL], FR))
    await store.change("b", putting([BL], FR))
    cleared = await store.clear("a")
    again = await store.change("a", putting([DEB], FR))

    assert cleared == Glossary((), 2)
    assert again[1] == Glossary((DEB,), 3)
    assert (await store.read("b")).entries == (BL,)
    assert await store.clear("never") == Glossary()
    assert set(await store.versions()) == {"a", "b"}


async def test_changes_at_the_same_time_lose_nothing(store: GlossaryStore) -> None:
    """Each sees what the one before it left, also those of a glossary's first moment."""
    entries = [GlossaryEntry(f"terme{number}", ("mot",)) for number in range(4)]

    await asyncio.gather(*(store.change("a", putting([each], FR)) for each in entries))

    assert await store.read("a") == Glossary(tuple(entries), 4)


async def test_tables_that_are_lost_do_not_come_back_empty(database_url: str) -> None:
    """A glossary that cannot be read is an error, not a glossary without entries."""
    database = Database(database_url)
    store = DatabaseGlossaryStore(database)
    await store.change("a", putting([BL], FR))
    async with database.transaction() as connection:
        for table in ("justesse_glossary", "justesse_glossary_versions"):
            await connection.execute(text(f"DROP TABLE {table}"))

    for call in (store.versions(), store.read("a"), store.change("a", putting([DEB], FR))):
        with pytest.raises(Unavailable):
            await call
    await database.close()
