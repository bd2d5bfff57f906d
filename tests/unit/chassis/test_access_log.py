"""The line that each call leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.errors import NotFound
from chassis.request_id import METADATA_KEY
from chassis.server import ServerSettings, running_server
from tests.fakes.captured_log import CapturedLog
from tests.fakes.probe_service import (
    KINDS,
    UNARY,
    UNARY_STREAM,
    call_all_kinds,
    consumed,
    probe,
    unary,
)

FIELDS = {"service", "method", "status", "milliseconds", "request_id", "peer"}
ENVELOPE = {"event", "level", "logger", "timestamp"}


async def answer(request: Any, context: Any) -> bytes:
    """Answers with a text that must not be logged."""
    await consumed(request)
    return b"a private answer"


async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
    """The same, as a stream."""
    await consumed(request)
    yield b"a private answer"


@pytest.mark.parametrize("kind", KINDS)
async def test_each_call_leaves_one_line_with_the_agreed_fields(
    kind: str, log: CapturedLog
) -> None:
    """Whatever the kind: these fields, and nothing of the content."""
    behaviour = stream if kind.endswith("Stream") else answer
    async with (
        running_server([probe({kind: behaviour})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        await call_all_kinds(channel, kind, metadata=((METADATA_KEY, "id-9"),))
    (line,) = log.named("call")
    assert set(line) == FIELDS | ENVELOPE
    service, _, method = kind.partition("/")
    assert (line["service"], line["method"], line["status"]) == (service, method, "OK")
    assert line["request_id"] == "id-9"
    assert line["milliseconds"] >= 0
    assert "127.0.0.1" in line["peer"]
    assert "private" not in log.stream.getvalue()


@pytest.mark.parametrize(
    ("error", "status"), [(NotFound("gone"), "NOT_FOUND"), (ValueError("bug"), "INTERNAL")]
)
async def test_the_line_has_the_status_that_the_caller_got(
    error: Exception, status: str, log: CapturedLog
) -> None:
    """Failures are logged as mapped, bugs included."""

    async def fail(request: bytes, context: Any) -> bytes:
        raise error

    async with (
        running_server([probe({UNARY: fail})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError):
            await call_all_kinds(channel, UNARY)
    (line,) = log.named("call")
    assert line["status"] == status


async def test_a_status_set_by_the_handler_itself_is_logged(log: CapturedLog) -> None:
    """A handler may also set the code without raising."""

    async def set_code(request: bytes, context: Any) -> bytes:
        context.set_code(grpc.StatusCode.ABORTED)
        return b""

    async with (
        running_server([probe({UNARY: set_code})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError):
            await call_all_kinds(channel, UNARY)
    (line,) = log.named("call")
    assert line["status"] == "ABORTED"


@pytest.mark.parametrize("kind", [UNARY, UNARY_STREAM])
async def test_a_call_that_runs_out_of_time_and_one_that_is_given_up_differ(
    kind: str, log: CapturedLog
) -> None:
    """Both cancel the handler; the line says which it was, with the request's id."""
    entered: asyncio.Queue[None] = asyncio.Queue()

    async def hang(request: bytes, context: Any) -> bytes:
        entered.put_nowait(None)
        await asyncio.Event().wait()
        raise AssertionError

    async def hang_stream(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield b"first"
        await hang(request, context)

    behaviour = hang_stream if kind == UNARY_STREAM else hang
    async with (
        running_server([probe({kind: behaviour})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError):
            await call_all_kinds(channel, kind, timeout=0.5, metadata=((METADATA_KEY, "late"),))
        await entered.get()
        given_up = asyncio.ensure_future(
            call_all_kinds(channel, kind, timeout=60, metadata=((METADATA_KEY, "left"),))
        )
        await entered.get()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
    statuses = {line["request_id"]: line["status"] for line in log.named("call")}
    assert statuses == {"late": "DEADLINE_EXCEEDED", "left": "CANCELLED"}


async def test_an_unknown_method_leaves_no_line(log: CapturedLog) -> None:
    """Scanners cannot fill the log with names of their own."""
    async with (
        running_server([probe()], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await unary(channel, "test.Probe/Nonsense")(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert log.named("call") == []
