"""What the switches do when their database is lost, locked or late."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from gateway.switches.board import SwitchOrigin
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.switch_database import (
    NOW,
    RERANKING,
    SwitchDatabase,
    state_of,
)


@pytest.mark.parametrize(
    "harm", ["drop the table", "delete the file", "overwrite the file", "drop a column"]
)
async def test_a_lost_table_keeps_every_value(database: SwitchDatabase, harm: str) -> None:
    """Whatever happens to the database, the values stay and the error is told."""
    board = database.board()
    await board.set(RERANKING, "off")

    match harm:
        case "drop the table":
            database.run("DROP TABLE pb_ai_config")
        case "delete the file":
            database.delete()
        case "overwrite the file":
            database.overwrite()
        case _:
            database.run("ALTER TABLE pb_ai_config DROP COLUMN config_value")
    state = await board.refresh()

    assert board.values() == SwitchValues(reranking_enabled=False)
    assert state_of(board, RERANKING).origin is SwitchOrigin.LAST_GOOD
    assert state.refresh_error
    assert "\n" not in state.refresh_error
    assert state.refresh_time == NOW


async def test_values_say_how_old_they_are(database: SwitchDatabase) -> None:
    """Seconds since the last good reading, which a failed one does not change; none before it."""
    board = database.board()
    unread = board.state()
    database.seconds = 100.0
    await board.refresh()
    database.seconds = 130.0
    database.run("DROP TABLE pb_ai_config")
    lost = await board.refresh()

    assert unread.age_s is None
    assert lost.refresh_error
    assert lost.age_s == 30.0


async def test_a_lost_table_is_not_made_anew_while_running(database: SwitchDatabase) -> None:
    """A table of defaults in its place would turn switches back on that somebody turned off."""
    board = database.board()
    await board.set(RERANKING, "off")
    database.delete()

    await board.refresh()
    await board.refresh()

    assert not database.exists()
    assert not board.values().reranking_enabled


async def test_a_returned_table_is_read_again(database: SwitchDatabase) -> None:
    """After an outage the values are those of the table, without a restart."""
    board = database.board()
    await board.set(RERANKING, "off")
    database.hide()
    await board.refresh()

    database.bring_back()
    state = await board.refresh()

    assert state_of(board, RERANKING).origin is SwitchOrigin.DATABASE
    assert state.refresh_error == ""


async def test_a_start_without_the_database_uses_the_defaults(tmp_path: Path) -> None:
    """The gateway starts, says why, and reads the table as soon as it can."""
    blocker = tmp_path / "blocker"
    blocker.write_text("a file where a folder should be")
    board = SwitchDatabase(blocker / "gateway.sqlite").board()

    state = await board.refresh()

    assert board.values() == SwitchValues()
    assert all(switch.origin is SwitchOrigin.DEFAULT for switch in state.switches)
    assert state.refresh_error
    assert state.refresh_time is None

    blocker.unlink()
    assert (await board.refresh()).refresh_error == ""
    assert state_of(board, RERANKING).origin is SwitchOrigin.DATABASE


async def test_a_table_that_may_only_be_read_is_enough(database: SwitchDatabase) -> None:
    """Missing rows that cannot be inserted are no reason not to read those there are."""
    database.make_host_table(("rag_enhancement", RERANKING, "off"))
    database.run(
        "CREATE TRIGGER no_rows BEFORE INSERT ON pb_ai_config "
        "BEGIN SELECT RAISE(ABORT, 'read only'); END",
    )
    board = database.board()

    state = await board.refresh()

    assert state.refresh_error == ""
    assert board.values() == SwitchValues(reranking_enabled=False)


async def test_a_locked_database_keeps_the_values(database: SwitchDatabase) -> None:
    """A host that holds the database for itself only makes the refresh fail."""
    board = database.board(timeout_s=0.2)
    await board.set(RERANKING, "off")
    with closing(database.connect()) as host:
        host.execute("BEGIN EXCLUSIVE")
        state = await board.refresh()

    assert state.refresh_error
    assert not board.values().reranking_enabled
