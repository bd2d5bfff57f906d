"""What tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway_in_thread


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """A command line with the workspace "demo", in an empty folder."""
    monkeypatch.chdir(tmp_path)
    state = GatewayState()
    with fake_gateway_in_thread(state) as address:
        line = CommandLine(address, state)
        line.run("workspaces", "create", "demo")
        yield line
