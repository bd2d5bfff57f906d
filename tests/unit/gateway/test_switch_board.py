"""Switches over real SQLite files, which others edit with plain SQL."""

from __future__ import annotations

import pytest

from gateway.switches.board import SwitchOrigin
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.switch_database import (
    CANDIDATES,
    NOW,
    RERANKING,
    SwitchDatabase,
    state_of,
)


async def test_the_table_is_created_with_the_defaults(database: SwitchDatabase) -> None:
    """The first contact makes the file, the table and its five rows, to be edited by SQL."""
    board = database.board()

    state = await board.refresh()

    rows = database.run(
        "SELECT model_group, config_key, config_value FROM pb_ai_config ORDER BY config_key",
    )
    assert rows == [
        ("rag_enhancement", CANDIDATES, "20"),
        ("rag_enhancement", "rag_hybrid_search_enabled", "true"),
        ("rag_enhancement", "rag_query_rewrite_enabled", "true"),
        ("rag_enhancement", "rag_rerank_candidate_count", "10"),
        ("rag_enhancement", RERANKING, "true"),
    ]
    assert all(switch.origin is SwitchOrigin.DATABASE for switch in state.switches)
    assert (state.refresh_time, state.refresh_error) == (NOW, "")


async def test_a_plain_sql_edit_takes_effect_at_the_next_refresh(database: SwitchDatabase) -> None:
    """Not before, and without a restart."""
    board = database.board()
    await board.refresh()

    database.set(RERANKING, "OFF")
    database.set(CANDIDATES, "50")

    assert board.values() == SwitchValues()
    await board.refresh()
    assert board.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=50)


async def test_a_second_start_overwrites_nothing(database: SwitchDatabase) -> None:
    """Values that somebody set stay, and only missing rows are added."""
    await database.board().refresh()
    database.set(RERANKING, "nonsense")
    database.run("DELETE FROM pb_ai_config WHERE config_key = ?", CANDIDATES)

    await database.board().refresh()

    rows = database.rows()
    assert (rows[RERANKING], rows[CANDIDATES], len(rows)) == ("nonsense", "20", 5)


async def test_a_host_systems_table_is_used_and_not_altered(database: SwitchDatabase) -> None:
    """Its columns stay, rows of other groups are not read, and values of other types are."""
    database.make_host_table(
        ("rag_enhancement", RERANKING, 0),
        ("rag_enhancement", CANDIDATES, 42),
        ("another_group", "rag_query_rewrite_enabled", "false"),
    )
    columns = database.run("PRAGMA table_info(pb_ai_config)")

    board = database.board()
    await board.refresh()

    assert board.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=42)
    assert database.run("PRAGMA table_info(pb_ai_config)") == columns


@pytest.mark.parametrize("garbage", ["perhaps", "", 7, None, b"\xff\xfe"])
async def test_garbage_keeps_the_last_good_value_of_its_key_only(
    database: SwitchDatabase, garbage: object
) -> None:
    """The error names the value, the other keys move on."""
    database.make_host_table(
        ("rag_enhancement", RERANKING, "off"), ("rag_enhancement", CANDIDATES, "30")
    )
    board = database.board()
    await board.refresh()

    database.set(RERANKING, garbage)
    database.set(CANDIDATES, "31")
    await board.refresh()

    state = state_of(board, RERANKING)
    assert (state.value, state.origin) == (False, SwitchOrigin.LAST_GOOD)
    assert "expected true or false" in state.error
    assert board.values() == SwitchValues(reranking_enabled=False, hybrid_candidate_count=31)


async def test_garbage_from_the_start_leaves_the_default(database: SwitchDatabase) -> None:
    """Without a good value before, the default is in force, with the error beside it."""
    database.make_host_table(("rag_enhancement", CANDIDATES, "500"))
    board = database.board()

    await board.refresh()

    state = state_of(board, CANDIDATES)
    assert (state.value, state.origin) == (20, SwitchOrigin.DEFAULT)
    assert "500" in state.error


async def test_a_corrected_value_clears_the_error(database: SwitchDatabase) -> None:
    """After garbage, the next good value is in force."""
    board = database.board()
    await board.refresh()
    database.set(CANDIDATES, "many")
    await board.refresh()

    database.set(CANDIDATES, "40")
    await board.refresh()

    state = state_of(board, CANDIDATES)
    assert (state.value, state.origin, state.error) == (40, SwitchOrigin.DATABASE, "")


async def test_a_deleted_row_means_the_default(database: SwitchDatabase) -> None:
    """What the database does not hold, the product decides."""
    board = database.board()
    await board.set(CANDIDATES, "33")

    database.run("DELETE FROM pb_ai_config WHERE config_key = ?", CANDIDATES)
    await board.refresh()

    assert state_of(board, CANDIDATES).origin is SwitchOrigin.DEFAULT
    assert board.values().hybrid_candidate_count == 20


async def test_contradicting_rows_are_refused(database: SwitchDatabase) -> None:
    """A host's table without a key constraint may hold a switch twice."""
    database.make_host_table(
        ("rag_enhancement", RERANKING, "off"),
        ("rag_enhancement", RERANKING, "on"),
        ("rag_enhancement", CANDIDATES, "25"),
        ("rag_enhancement", CANDIDATES, "25"),
    )
    board = database.board()

    await board.refresh()

    assert "more than once" in state_of(board, RERANKING).error
    assert board.values() == SwitchValues(reranking_enabled=True, hybrid_candidate_count=25)
