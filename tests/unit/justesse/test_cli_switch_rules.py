"""`justesse switches overrides`, `rollouts` and `changes` against a gateway that keeps them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway.serving import fake_gateway_in_thread
from tests.fakes.fake_gateway.state import GatewayState

KEY = "rag_reranking_enabled"


@pytest.fixture
def line() -> Iterator[CommandLine]:
    """A command line over a fake gateway."""
    state = GatewayState()
    with fake_gateway_in_thread(state) as address:
        yield CommandLine(address, state)


def test_a_workspace_gets_a_value_of_its_own_and_loses_it(line: CommandLine) -> None:
    """Each step says what holds now."""
    none = line.run("switches", "overrides", "list", "-w", "demo").stdout
    said = line.run("switches", "overrides", "set", KEY, "false", "-w", "demo").stdout
    listed = line.run("switches", "overrides", "list", "-w", "demo").stdout
    cleared = line.json("switches", "overrides", "clear", KEY, "-w", "demo")
    again = line.run("switches", "overrides", "clear", KEY, "-w", "demo").stdout

    assert "no overrides" in none
    assert f"{KEY} is now false in demo" in said
    assert listed.strip() == f"{KEY} is false in demo"
    assert cleared == {"cleared": True}
    assert "no value of its own" in again


def test_a_rollout_begins_shows_and_ends(line: CommandLine) -> None:
    """`switches list` shows what is on."""
    said = line.run("switches", "rollouts", "set", KEY, "false", "--percent", "12.5").stdout
    listed = line.run("switches", "list").stdout
    ended = line.run("switches", "rollouts", "end", KEY).stdout
    again = line.run("switches", "rollouts", "end", KEY).stdout

    assert f"{KEY} is now false for 12.5 % of the queries" in said
    assert f"Rollout: {KEY} is false for 12.5 % of queries" in listed
    assert "one value again" in ended
    assert "was not rolled out" in again
    assert "Rollout" not in line.run("switches", "list").stdout


def test_changes_say_who_did_what(line: CommandLine) -> None:
    """A value that was not there before is a dash."""
    [change] = line.json("switches", "changes")
    shown = line.run("switches", "changes", width=150).stdout

    assert (change["actor"], change["old_value"], change["new_value"]) == (
        "observed at refresh",
        None,
        "false",
    )
    assert "observed at refresh" in shown
    assert f"switch: {KEY}" in shown
