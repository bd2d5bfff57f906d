"""A command tells whether a process is ready, for probes that speak no gRPC."""

from __future__ import annotations

import asyncio
import sys

import pytest

from chassis.metrics import Metrics
from chassis.probe import main
from chassis.server import ServedService, ServerSettings, running_server


async def probed(*arguments: str) -> tuple[int, str]:
    """Runs the command as a process; returns its exit code and what it says."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "chassis.probe", *arguments, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    return process.returncode or 0, said.decode()


async def test_the_exit_code_says_whether_a_process_is_ready() -> None:
    """0 once all its services are; before, and without an answer, 1 and the reason."""
    service = ServedService("test.SlowService", lambda _server: None, ready=False)
    async with running_server(
        [service], ServerSettings(reflection=False), metrics=Metrics()
    ) as server:
        port = server.management_address.rpartition(":")[2]
        loading = await probed(port)
        server.set_serving("test.SlowService", True)
        ready = await probed(port)
    gone = await probed(port)

    assert loading == (1, f"port {port} says NOT_SERVING\n")
    assert ready == (0, "")
    assert gone == (1, f"port {port} does not answer: UNAVAILABLE\n")


@pytest.mark.parametrize("arguments", [[], ["x"], ["1", "2"]])
def test_anything_but_a_port_is_told_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With another exit code."""
    assert main(arguments) == 2
    assert "usage: python -m chassis.probe PORT" in capsys.readouterr().err
