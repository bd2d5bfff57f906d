"""Overrides, rollouts and the audit of switches, in either database and in the fake of tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from chassis.errors import Unavailable
from gateway.database.database import Database
from gateway.switches.change import OBSERVED, ChangeKind
from gateway.switches.database_rules import DatabaseRuleStore
from gateway.switches.rule_store import RuleStore
from gateway.switches.rules import Rollout
from tests.fakes.gateway_services.switch_database import CANDIDATES, NOW, RERANKING
from tests.fakes.gateway_services.switch_rules import FakeRuleStore
from tests.fakes.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RuleStore]:
    """An empty store of each kind, whose clock stands at NOW."""
    if request.param == "memory":
        yield FakeRuleStore()
        return
    url = f"sqlite+aiosqlite:///{tmp_path / 'data' / 'gateway.sqlite'}"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_database()
    database = Database(url)
    yield DatabaseRuleStore(database, now=lambda: NOW)
    await database.close()


async def test_overrides_are_set_changed_and_cleared(store: RuleStore) -> None:
    """Each in its workspace; what changes nothing is no change, and leaves no line."""
    assert await store.put_override("a", RERANKING, False, "me")
    assert await store.put_override("a", CANDIDATES, 30, "me")
    assert not await store.put_override("a", RERANKING, False, "me")
    assert await store.put_override("b", RERANKING, True, "you")
    assert (await store.read()).overrides == {
        "a": {RERANKING: False, CANDIDATES: 30},
        "b": {RERANKING: True},
    }

    assert await store.put_override("a", RERANKING, None, "you")
    assert not await store.put_override("a", RERANKING, None, "you")
    await store.clear_workspace("b", "me")

    found = (await store.read()).overrides
    assert {workspace: own for workspace, own in found.items() if own} == {"a": {CANDIDATES: 30}}
    lines = [
        (each.actor, each.workspace, each.key, each.old_value, each.new_value)
        for each in await store.changes(before=None, limit=10)
    ]
    assert lines == [
        ("me", "b", RERANKING, "true", None),
        ("you", "a", RERANKING, "false", None),
        ("you", "b", RERANKING, None, "true"),
        ("me", "a", CANDIDATES, None, "30"),
        ("me", "a", RERANKING, None, "false"),
    ]


async def test_rollouts_begin_change_and_end(store: RuleStore) -> None:
    """One for each switch; the audit says how large its share was."""
    await store.put_rollout(RERANKING, Rollout(RERANKING, False, 12.5), "me")
    await store.put_rollout(RERANKING, Rollout(RERANKING, False, 50), "me")
    assert (await store.read()).rollouts == {RERANKING: Rollout(RERANKING, False, 50)}

    assert await store.put_rollout(RERANKING, None, "me")
    assert not await store.put_rollout(RERANKING, None, "me")

    assert (await store.read()).rollouts == {}
    changes = await store.changes(before=None, limit=10)
    assert [(each.old_value, each.new_value) for each in changes] == [
        ("false for 50 %", None),
        ("false for 12.5 %", "false for 50 %"),
        (None, "false for 12.5 %"),
    ]
    assert {(each.kind, each.moment) for each in changes} == {(ChangeKind.ROLLOUT, NOW)}


async def test_what_others_changed_is_written_down_once(store: RuleStore) -> None:
    """The first look is no change; a row that came or went is one."""
    await store.note_values({RERANKING: "true", CANDIDATES: None})
    assert await store.changes(before=None, limit=10) == []

    changed = [
        await store.note_values({RERANKING: "FALSE", CANDIDATES: "20"}),
        await store.note_values({RERANKING: "FALSE", CANDIDATES: "20"}),
        await store.note_values({RERANKING: "true"}, "jst_1 (me)"),
    ]

    assert [sorted(each) for each in changed] == [[CANDIDATES, RERANKING], [], [RERANKING]]
    lines = {
        (each.actor, each.key, each.old_value, each.new_value)
        for each in await store.changes(before=None, limit=10)
    }
    assert lines == {
        (OBSERVED, RERANKING, "true", "FALSE"),
        (OBSERVED, CANDIDATES, None, "20"),
        ("jst_1 (me)", RERANKING, "FALSE", "true"),
    }


async def test_everything_that_changes_raises_the_version(store: RuleStore) -> None:
    """By it the other replicas know that there is something to read."""
    seen = [await store.version()]
    await store.announce()
    seen.append(await store.version())
    await store.put_override("a", RERANKING, False, "me")
    seen.append(await store.version())
    await store.put_rollout(RERANKING, Rollout(RERANKING, False, 5), "me")
    seen.append(await store.version())
    await store.note_values({RERANKING: "true"})
    await store.note_values({RERANKING: "false"})
    seen.append(await store.version())
    await store.clear_workspace("a", "me")
    seen.append(await store.version())

    assert seen == sorted(set(seen))
    assert (await store.read()).version == seen[-1]


async def test_changes_come_in_pages(store: RuleStore) -> None:
    """The latest first, each once."""
    for count in range(1, 8):
        await store.put_override("a", CANDIDATES, count, "me")

    first = await store.changes(before=None, limit=3)
    second = await store.changes(before=first[-1].number, limit=3)

    assert [each.new_value for each in (*first, *second)] == ["7", "6", "5", "4", "3", "2"]


async def test_replicas_note_one_change_together_once(database_url: str) -> None:
    """Four that see the same edit at the same time leave one line."""
    databases = [Database(database_url) for _ in range(4)]
    stores = [DatabaseRuleStore(each) for each in databases]
    await stores[0].note_values({RERANKING: "true"})

    await asyncio.gather(*(each.note_values({RERANKING: "false"}) for each in stores))

    assert len(await stores[0].changes(before=None, limit=10)) == 1
    for each in databases:
        await each.close()


async def test_the_audit_is_bounded(database_url: str) -> None:
    """The oldest lines go."""
    database = Database(database_url)
    store = DatabaseRuleStore(database, now=lambda: datetime.now(UTC), kept_changes=5)
    for count in range(1, 10):
        await store.put_override("a", CANDIDATES, count, "me")

    kept = await store.changes(before=None, limit=100)
    await database.close()

    assert [each.new_value for each in kept] == ["9", "8", "7", "6", "5"]


async def test_a_rule_that_somebody_else_wrote_wrongly_is_left_out(database_url: str) -> None:
    """Of an unknown switch, or with a value that it cannot have; the others count."""
    database = Database(database_url)
    store = DatabaseRuleStore(database)
    await store.put_override("a", RERANKING, False, "me")
    async with database.transaction() as connection:
        for key, value in (("rag_nothing", "true"), (CANDIDATES, "many")):
            await connection.execute(
                text("INSERT INTO justesse_switch_overrides VALUES ('a', :key, :value)"),
                {"key": key, "value": value},
            )

    rules = await store.read()
    await database.close()

    assert rules.overrides == {"a": {RERANKING: False}}


async def test_a_lost_database_is_told(tmp_path: Path) -> None:
    """As Unavailable, for every method."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path}")
    store = DatabaseRuleStore(database)

    for call in (
        store.version(),
        store.read(),
        store.announce(),
        store.put_override("a", RERANKING, False, "me"),
        store.clear_workspace("a", "me"),
        store.put_rollout(RERANKING, None, "me"),
        store.note_values({RERANKING: "true"}),
        store.changes(before=None, limit=1),
    ):
        with pytest.raises(Unavailable):
            await call
    await database.close()
