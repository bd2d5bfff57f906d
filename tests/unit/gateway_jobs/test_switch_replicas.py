"""Gateways on one database obey the same switches, whoever changes them, and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from sqlalchemy import text

from chassis.background_task import background_task
from gateway.access.identity import Identity, acting_as
from gateway.database.database import Database
from gateway.switches.announcements import asked, tells, told
from gateway.switches.board import SwitchBoard, SwitchOrigin
from gateway.switches.change import OBSERVED, ChangeKind
from gateway.switches.database_rules import DatabaseRuleStore
from gateway.switches.editing import SwitchEditing
from gateway.switches.switching import Switching
from gateway.switches.table import SwitchTable
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.retriever import FakeRetriever
from tests.fakes.gateway_services.switch_database import CANDIDATES, RERANKING
from tests.fakes.postgres import PostgresServer


class Replica:
    """One gateway's switches, with a database pool of their own."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.switching = Switching(SwitchBoard(SwitchTable(url)), DatabaseRuleStore(self.database))
        retriever = FakeRetriever()
        retriever.add_workspace("w")
        self.editing = SwitchEditing(self.switching, retriever)

    def values(self) -> SwitchValues:
        """Returns what a query of workspace "w" meets."""
        return self.switching.choice("w", "q").values

    async def run(self, statement: str) -> None:
        """Edits the database behind the gateways' back."""
        async with self.database.transaction() as connection:
            await connection.execute(text(statement))


@pytest.fixture
async def replicas(database_url: str) -> AsyncIterator[tuple[Replica, Replica]]:
    """Two that have read their switches."""
    pair = Replica(database_url), Replica(database_url)
    for each in pair:
        await each.switching.refresh()
    yield pair
    for each in pair:
        await each.database.close()


async def until(condition: Callable[[], bool]) -> None:
    """Waits for what must come."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what changes tells nobody
            await asyncio.sleep(0.01)


async def test_what_one_changes_the_other_follows(replicas: tuple[Replica, Replica]) -> None:
    """Switches, overrides and rollouts, when it next asks; what changed nothing is not read."""
    one, other = replicas

    await one.editing.set(CANDIDATES, "30")
    await one.editing.set_override("w", RERANKING, "false")
    assert other.values() == SwitchValues()
    await other.switching.follow()
    assert other.values() == SwitchValues(hybrid_candidate_count=30, reranking_enabled=False)

    await one.editing.clear_override("w", RERANKING)
    await one.editing.set_rollout(RERANKING, "false", 100)
    await other.switching.follow()
    assert other.switching.choice("w", "q").variant == f"{RERANKING}=false"

    await one.editing.clear_rollout(RERANKING)
    await other.switching.follow()
    assert other.values() == SwitchValues(hybrid_candidate_count=30)


async def test_plain_sql_counts_at_the_next_refresh_of_each(
    replicas: tuple[Replica, Replica],
) -> None:
    """`RefreshSwitches` of one is followed by the other; the audit has the edit once."""
    one, other = replicas
    await one.run(f"UPDATE pb_ai_config SET config_value = 'off' WHERE config_key = '{RERANKING}'")
    await other.switching.follow()
    assert other.values().reranking_enabled

    await one.switching.refresh_everywhere()
    await other.switching.follow()

    assert not one.values().reranking_enabled
    assert not other.values().reranking_enabled
    [change] = (await one.editing.changes()).changes
    assert (change.actor, change.kind, change.key) == (OBSERVED, ChangeKind.SWITCH, RERANKING)
    assert (change.old_value, change.new_value) == ("true", "off")


async def test_the_audit_tells_callers_from_edits_by_hand(
    replicas: tuple[Replica, Replica],
) -> None:
    """An edit by hand before a caller's change is not held against the caller."""
    one, _ = replicas
    await one.run(f"UPDATE pb_ai_config SET config_value = '7' WHERE config_key = '{CANDIDATES}'")

    with acting_as(Identity("jst_0123", "night shift")):
        await one.editing.set(RERANKING, "FALSE")
        await one.editing.set(RERANKING, "false")

    lines = [
        (each.actor, each.key, each.old_value, each.new_value)
        for each in (await one.editing.changes()).changes
    ]
    assert lines == [
        ("jst_0123 (night shift)", RERANKING, "true", "false"),
        (OBSERVED, CANDIDATES, "20", "7"),
    ]


async def test_a_replica_asks_by_itself(replicas: tuple[Replica, Replica]) -> None:
    """Every few seconds; here at once."""
    one, other = replicas
    async with background_task(asked(other.switching, interval_s=0.01)):
        await one.editing.set(RERANKING, "false")
        await until(lambda: not other.values().reranking_enabled)


async def test_postgresql_tells_replicas_by_itself(postgres: PostgresServer) -> None:
    """Nobody asks; a listener whose connection is cut listens again and has missed nothing."""
    url = postgres.new_database()
    one, other = Replica(url), Replica(url)
    await one.switching.refresh()
    pauses = asyncio.Event()

    async def pause(_seconds: float) -> None:
        await pauses.wait()

    async with background_task(told(other.switching, url, sleep=pause)):
        await one.editing.set(RERANKING, "false")
        await until(lambda: not other.values().reranking_enabled)

        await one.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        )
        await one.editing.set(RERANKING, "true")
        pauses.set()
        await until(lambda: other.values().reranking_enabled)
    for each in (one, other):
        await each.database.close()

    assert tells(url)
    assert not tells("sqlite+aiosqlite:///x")


async def test_switches_are_obeyed_where_our_tables_are_gone(database_url: str) -> None:
    """Values and rules are lost, and kept, each for themselves."""
    replica = Replica(database_url)
    await replica.switching.refresh()
    await replica.editing.set_override("w", CANDIDATES, "50")
    await replica.run("DROP TABLE justesse_switch_overrides")
    await replica.run(
        f"UPDATE pb_ai_config SET config_value = '0' WHERE config_key = '{RERANKING}'"
    )

    state = await replica.switching.refresh()

    assert state.rules_error
    assert state.board.refresh_error == ""
    assert replica.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=50)

    await replica.run("DROP TABLE pb_ai_config")
    state = await replica.switching.refresh()

    assert state.board.refresh_error
    assert {each.origin for each in state.board.switches} == {SwitchOrigin.LAST_GOOD}
    assert replica.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=50)
    await replica.database.close()
