"""Stopping a server without losing a call."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.channel import open_channel
from chassis.errors import FailedPrecondition
from chassis.server import ServerSettings, StartError, run, running_server
from tests.fakes.captured_log import CapturedLog
from tests.fakes.clock import settle
from tests.fakes.probe_service import UNARY, call_all_kinds, probe, unary

ROOT = Path(__file__).parents[3]

PROGRAM = """
import asyncio, os, sys
from chassis.server import ServerSettings, run, running_server, serve_until_signalled
from tests.fakes.probe_service import UNARY, probe

state = {}

async def wait(request, context):
    print("entered", flush=True)
    while request != b"forever" and state["server"].health.serving("") is True:
        await asyncio.sleep(0.005)
    if request == b"forever":
        await asyncio.Event().wait()
    await asyncio.sleep(0.1)
    return b"finished"

async def main():
    settings = ServerSettings(drain_grace_s=60, **eval(os.environ["SETTINGS"]))
    async with running_server([probe({UNARY: wait})], settings) as server:
        state["server"] = server
        print(server.address, flush=True)
        await serve_until_signalled(server)

run(main)
"""


@asynccontextmanager
async def started(**settings: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs the small server as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        cwd=ROOT,
        env={"SETTINGS": repr(settings), "PYTHONPATH": str(ROOT), "PATH": ""},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def stub(channel: grpc.aio.Channel) -> Any:
    """Returns the stub of the health service."""
    return health_pb2_grpc.HealthStub(channel)


async def line_of(process: asyncio.subprocess.Process) -> str:
    """Returns the next line of the process's output."""
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def logged(process: asyncio.subprocess.Process, event: str) -> None:
    """Waits for a log line of this event."""
    assert process.stderr is not None
    while json.loads(await process.stderr.readline())["event"] != event:
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_calls_finish_and_exits_with_zero(number: signal.Signals) -> None:
    """Twenty calls in flight are all answered; then the process ends by itself."""
    async with started() as process:
        async with grpc.aio.insecure_channel(await line_of(process)) as channel:
            call = unary(channel)
            answers = asyncio.gather(*(call(b"", timeout=60) for _ in range(20)))
            for _ in range(20):
                assert await line_of(process) == "entered"
            process.send_signal(number)
            assert await answers == [b"finished"] * 20
        assert await process.wait() == 0


async def test_a_second_signal_ends_the_process_at_once() -> None:
    """An operator in a hurry does not wait for the grace of sixty seconds."""
    async with (
        started() as process,
        grpc.aio.insecure_channel(await line_of(process)) as channel,
    ):
        call = asyncio.ensure_future(call_unary(channel, b"forever"))
        assert await line_of(process) == "entered"
        process.send_signal(signal.SIGTERM)
        await logged(process, "draining")
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def call_unary(channel: grpc.aio.Channel, request: bytes) -> Any:
    """Calls the unary method and waits for its answer."""
    return await unary(channel)(request)


@pytest.mark.parametrize(
    ("settings", "exit_code", "words"),
    [
        ({"host": "0.0.0.0"}, 78, "refusing to listen on 0.0.0.0"),
        ({"host": "192.0.2.1", "insecure": True}, 69, "cannot listen on 192.0.2.1"),
    ],
)
async def test_a_failed_start_ends_with_one_line_and_no_traceback(
    settings: dict[str, Any], exit_code: int, words: str
) -> None:
    """The operator reads what to do, not where it was raised."""
    async with started(**settings) as process:
        _, stderr = await process.communicate()
        assert process.returncode == exit_code
        assert words in stderr.decode()
        assert "Traceback" not in stderr.decode()
        assert len(stderr.decode().strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "exit_code", "said"),
    [
        (FailedPrecondition("the folder is locked"), 1, "the folder is locked\n"),
        (StartError("no room", exit_code=78), 78, "no room\n"),
        (ExceptionGroup("tasks", [StartError("no room", exit_code=78)]), 78, "no room\n"),
    ],
)
def test_errors_meant_for_people_end_the_process_with_their_text(
    error: Exception,
    exit_code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    log: CapturedLog,
) -> None:
    """Whoever raises them on the way up, and without a traceback."""

    async def main() -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        run(main)
    assert caught.value.code == exit_code
    assert capsys.readouterr().err == said


def test_a_bug_ends_the_process_with_one_log_line(
    capsys: pytest.CaptureFixture[str], log: CapturedLog
) -> None:
    """The traceback is in the log like every other, and the exit code tells of a fault of ours."""

    async def main() -> None:
        raise ValueError("bug")

    with pytest.raises(SystemExit) as caught:
        run(main)
    assert caught.value.code == 70
    line = json.loads(capsys.readouterr().err)
    assert "ValueError: bug" in line["exception"]


async def test_readiness_falls_before_the_server_stops_taking_calls() -> None:
    """During the pause callers are told to go elsewhere, but those who come are served."""
    settings = ServerSettings(drain_pause_s=0.5)
    async with (
        running_server([probe()], settings) as server,
        open_channel(server.address) as channel,
        grpc.aio.insecure_channel(server.management_address) as management,
    ):
        watch = stub(management).Watch(health_pb2.HealthCheckRequest(service="readiness"))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        draining = asyncio.ensure_future(server.drain())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert await call_all_kinds(channel, UNARY) == [b"1"]
        assert not draining.done()
        await draining
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY, timeout=5)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_calls_that_exceed_the_grace_are_cut_off() -> None:
    """The drain ends even if a call never does; its caller may try elsewhere."""
    entered = asyncio.Event()

    async def hang(request: bytes, context: Any) -> bytes:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    settings = ServerSettings(drain_grace_s=0.1)
    async with (
        running_server([probe({UNARY: hang})], settings) as server,
        open_channel(server.address) as channel,
    ):
        call = asyncio.ensure_future(call_unary(channel, b""))
        await entered.wait()
        await server.drain()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    await settle()
