"""Setting switches, and refreshing them in time."""

from __future__ import annotations

import asyncio

import pytest

from chassis.errors import InvalidArgument, NotFound, Unavailable
from gateway.refreshing import repeated
from gateway.switches.board import SwitchOrigin
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.switch_database import (
    CANDIDATES,
    RERANKING,
    SwitchDatabase,
)


async def test_setting_writes_the_value_and_the_time(database: SwitchDatabase) -> None:
    """The normalised value is in the table, in force, and dated."""
    board = database.board()
    await board.refresh()
    database.run("UPDATE pb_ai_config SET updated_at = '2000-01-01 00:00:00'")

    state = await board.set(RERANKING, " OFF ")

    times = database.run("SELECT config_key, updated_at FROM pb_ai_config")
    recent = [key for key, time in times if str(time) > "2001"]
    assert (state.value, state.origin) == (False, SwitchOrigin.DATABASE)
    assert database.rows()[RERANKING] == "false"
    assert recent == [RERANKING]


async def test_setting_adds_a_row_that_is_missing(database: SwitchDatabase) -> None:
    """A switch can be set even where the table has no row for it."""
    board = database.board()
    await board.refresh()
    database.run("DELETE FROM pb_ai_config")

    await board.set(CANDIDATES, "12")

    assert database.rows() == {CANDIDATES: "12"}


async def test_setting_refuses_unknown_keys_and_bad_values(database: SwitchDatabase) -> None:
    """Nothing is written, and the caller learns what is possible."""
    board = database.board()
    await board.refresh()

    with pytest.raises(NotFound, match="rag_reranking_enabled"):
        await board.set("rag_magic", "true")
    with pytest.raises(InvalidArgument, match="from 1 to 200") as refused:
        await board.set(CANDIDATES, "201")

    assert refused.value.field == "value"
    assert board.values() == SwitchValues()


async def test_setting_without_a_database_is_unavailable(database: SwitchDatabase) -> None:
    """The value in force stays, and the message says why."""
    board = database.board()
    await board.refresh()
    database.delete()

    with pytest.raises(Unavailable, match="does not exist"):
        await board.set(RERANKING, "off")

    assert board.values().reranking_enabled


async def test_refreshes_come_every_interval_give_or_take_a_tenth(
    database: SwitchDatabase,
) -> None:
    """The board sleeps for the interval times a chance from 0.9 to 1.1, then refreshes, again."""
    board = database.board()
    await board.refresh()
    database.set(RERANKING, "off")
    slept: list[float] = []
    refreshed = asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            refreshed.set()
            await asyncio.Event().wait()

    chances = {(0.9, 1.1): iter([0.9, 1.1])}
    keeping = asyncio.create_task(
        repeated(
            board.refresh,
            interval_s=300.0,
            sleep=sleep,
            chance=lambda low, high: next(chances[low, high]),
        )
    )
    await refreshed.wait()
    keeping.cancel()

    assert slept == pytest.approx([270.0, 330.0])
    assert not board.values().reranking_enabled
