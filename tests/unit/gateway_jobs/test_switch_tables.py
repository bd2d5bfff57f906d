"""The table pb_ai_config in either database, also where a host system made it and keeps it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import text
from sqlalchemy.engine import make_url

from gateway.database.database import Database
from gateway.switches.board import SwitchBoard, SwitchOrigin
from gateway.switches.database_rules import DatabaseRuleStore
from gateway.switches.switch_metrics import SwitchMetrics
from gateway.switches.switching import Switching
from gateway.switches.table import SwitchTable
from gateway.switches.values import SwitchValues
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.switch_database import CANDIDATES, RERANKING
from tests.fakes.postgres import PostgresServer

REWRITING = "rag_query_rewrite_enabled"
HYBRID = "rag_hybrid_search_enabled"
GROUP = "rag_enhancement"


class Host:
    """A host system, or a person with a SQL shell."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)

    async def run(self, statement: str) -> list[tuple[object, ...]]:
        """Runs a statement; returns the rows of a query."""
        async with self.database.transaction() as connection:
            result = await connection.execute(text(statement))
            return [tuple(row) for row in result] if result.returns_rows else []


@pytest.fixture
async def host(database_url: str) -> AsyncIterator[Host]:
    """The host of an empty database."""
    host = Host(database_url)
    # Makes the folder of SQLite's file.
    await host.database.prepare()
    yield host
    await host.database.close()


async def test_an_absent_table_is_made_with_the_defaults(host: Host, database_url: str) -> None:
    """With the columns that others rely on; plain SQL counts at the next refresh."""
    board = SwitchBoard(SwitchTable(database_url))
    await board.refresh()
    rows = await host.run(
        "SELECT model_group, config_key, config_value FROM pb_ai_config ORDER BY config_key"
    )
    assert rows == [
        (GROUP, CANDIDATES, "20"),
        (GROUP, HYBRID, "true"),
        (GROUP, REWRITING, "true"),
        (GROUP, "rag_rerank_candidate_count", "10"),
        (GROUP, RERANKING, "true"),
    ]
    assert len(await host.run("SELECT description, updated_at FROM pb_ai_config")) == 5

    await host.run(f"UPDATE pb_ai_config SET config_value = 'OFF' WHERE config_key = '{RERANKING}'")
    assert board.values() == SwitchValues()
    await board.refresh()
    assert board.values() == SwitchValues(reranking_enabled=False)


async def test_a_host_table_is_read_as_it_is(host: Host, database_url: str) -> None:
    """Further columns, groups, spaces, NULL, doubles and no key: nothing of it is altered."""
    await host.run(
        "CREATE TABLE pb_ai_config (id INTEGER, model_group VARCHAR(64), config_key VARCHAR(64), "
        "config_value VARCHAR(200), description VARCHAR(200), updated_at TIMESTAMP, "
        "owner VARCHAR(20) DEFAULT 'host')"
    )
    for group, key, value in (
        (GROUP, RERANKING, "' FALSE '"),
        (GROUP, CANDIDATES, "' 35 '"),
        (GROUP, REWRITING, "NULL"),
        (GROUP, HYBRID, "'1'"),
        (GROUP, HYBRID, "'0'"),
        ("billing", RERANKING, "'true'"),
    ):
        await host.run(
            "INSERT INTO pb_ai_config (id, model_group, config_key, config_value) "
            f"VALUES (1, '{group}', '{key}', {value})"
        )
    before = await host.run("SELECT * FROM pb_ai_config")

    board = SwitchBoard(SwitchTable(database_url))
    state = await board.refresh()

    assert board.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=35)
    errors = {each.definition.key: each.error for each in state.switches if each.error}
    assert errors.keys() == {REWRITING, HYBRID}
    assert "more than once" in errors[HYBRID]
    after = await host.run("SELECT * FROM pb_ai_config")
    assert [row for row in after if row in before] == before
    # The one switch that had no row has one now.
    assert len(after) == len(before) + 1


async def test_numbers_and_truth_values_of_other_types_are_read(
    postgres: PostgresServer,
) -> None:
    """A host may keep whole numbers in a column of its own type."""
    url = postgres.new_database()
    host = Host(url)
    await host.run(
        "CREATE TABLE pb_ai_config (model_group TEXT, config_key TEXT, config_value INTEGER, "
        "description TEXT, updated_at TIMESTAMP)"
    )
    await host.run(
        f"INSERT INTO pb_ai_config VALUES ('{GROUP}', '{RERANKING}', 0, '', now()), "
        f"('{GROUP}', '{CANDIDATES}', 40, '', now())"
    )

    board = SwitchBoard(SwitchTable(url))
    state = await board.refresh()
    await host.database.close()

    assert state.refresh_error == ""
    assert board.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=40)


async def test_a_user_who_may_only_read_is_obeyed(postgres: PostgresServer) -> None:
    """Switches count; our own tables cannot be made, and the list says so; nothing can be set."""
    url = postgres.new_database()
    host = Host(url)
    await SwitchBoard(SwitchTable(url)).set(RERANKING, "off")
    name = f"reader_{make_url(url).database}"
    for statement in (
        f"CREATE ROLE {name} LOGIN PASSWORD 'p'",
        f"GRANT SELECT ON pb_ai_config TO {name}",
    ):
        await host.run(statement)
    reader = make_url(url).set(username=name, password="p").render_as_string(hide_password=False)
    database = Database(reader)
    switching = Switching(SwitchBoard(SwitchTable(reader)), DatabaseRuleStore(database))

    state = await switching.refresh()
    await database.close()
    await host.database.close()

    assert state.board.refresh_error == ""
    assert "lost" in state.rules_error
    assert not switching.choice("w", "q").values.reranking_enabled


async def test_metrics_tell_age_and_refusals(host: Host, database_url: str) -> None:
    """The age grows while the table is lost, and says so from the start on."""
    clock, registry = FakeClock(), CollectorRegistry()
    board = SwitchBoard(SwitchTable(database_url))
    store = DatabaseRuleStore(host.database)
    switching = Switching(board, store, SwitchMetrics(registry, clock))

    def shown(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"justesse_{name}", labels)

    await switching.refresh()
    await clock.advance(40)
    assert shown("switches_age_seconds") == 40
    await host.run(f"UPDATE pb_ai_config SET config_value = '?' WHERE config_key = '{RERANKING}'")
    await switching.refresh()
    assert shown("switches_age_seconds") == 0
    assert shown("switches_refused", config_key=RERANKING) == 1
    assert shown("switches_refused", config_key=CANDIDATES) == 0
    assert shown("switches_refresh_failed", part="values") == 0

    await host.run("DROP TABLE pb_ai_config")
    await clock.advance(7)
    state = await switching.refresh()
    assert shown("switches_age_seconds") == 7
    assert shown("switches_refresh_failed", part="values") == 1
    assert shown("switches_refresh_failed", part="rules") == 0
    assert {each.origin for each in state.board.switches} == {SwitchOrigin.LAST_GOOD}
