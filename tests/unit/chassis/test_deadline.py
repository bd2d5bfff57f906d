"""Deadlines: read from the caller, narrowed, passed on, enforced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.channel import open_channel
from chassis.deadline import (
    Deadline,
    current_deadline,
    deadline_bound,
    narrowed_deadline,
    outgoing_timeout,
)
from chassis.errors import DeadlineExceeded
from chassis.interception import CalledMethod
from chassis.server import ServerSettings, running_server
from tests.fakes.clock import FakeClock
from tests.fakes.probe_service import KINDS, UNARY, UNARY_STREAM, call_all_kinds, consumed, probe

# Seconds; gRPC rounds a timeout up when it writes it into a header.
WIRE_ROUNDING = 0.5


async def remaining(request: bytes, context: Any) -> bytes:
    """A handler that tells how much time it has."""
    deadline = current_deadline()
    return b"none" if deadline is None else str(deadline.remaining()).encode()


async def remaining_stream(request: bytes, context: Any) -> AsyncIterator[bytes]:
    """The same, as a stream."""
    yield await remaining(request, context)


def test_a_deadline_counts_down_and_never_below_zero() -> None:
    """Remaining time follows the clock; an expired deadline has none left."""
    clock = FakeClock()
    deadline = Deadline.after(2.0, clock)
    assert (deadline.remaining(), deadline.share(0.25), deadline.expired) == (2.0, 0.5, False)
    clock.now += 2.0
    assert deadline.expired
    clock.now += 5.0
    assert (deadline.remaining(), deadline.share(0.5)) == (0.0, 0.0)


@given(st.floats(0.001, 100), st.floats(0, 100), st.floats(0, 1))
def test_a_share_is_never_more_than_what_is_left(
    seconds: float, passed: float, part: float
) -> None:
    """No stage can be given more time than the caller still allows."""
    clock = FakeClock()
    deadline = Deadline.after(seconds, clock)
    clock.now += passed
    assert 0.0 <= deadline.share(part) <= deadline.remaining() <= seconds + 1e-9


def test_narrowing_shortens_and_never_lengthens() -> None:
    """A stage may have less time than its caller, not more; afterwards the old one counts."""
    assert current_deadline() is None
    with narrowed_deadline(10.0) as outer:
        with narrowed_deadline(1.0) as inner:
            assert current_deadline() is inner
            assert inner.at < outer.at
        with narrowed_deadline(60.0) as inner:
            assert inner is outer
        assert current_deadline() is outer
    assert current_deadline() is None


def test_the_outgoing_timeout_is_the_smaller_one() -> None:
    """A call may ask for less time than is left; with none left it must fail at once."""
    assert outgoing_timeout(None) is None
    assert outgoing_timeout(3.0) == 3.0
    with narrowed_deadline(2.0):
        assert outgoing_timeout(0.5) == 0.5
        passed_on = outgoing_timeout(None)
        assert passed_on is not None
        assert 1.0 < passed_on <= 2.0
        assert outgoing_timeout(9.0) == pytest.approx(passed_on, abs=0.5)
    with narrowed_deadline(0.0):
        assert outgoing_timeout(9.0) == -1.0


async def test_the_handler_sees_the_time_its_caller_gives() -> None:
    """The contextvar holds what the caller allowed, less the journey."""
    async with (
        running_server([probe({UNARY: remaining})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        (answer,) = await call_all_kinds(channel, UNARY, timeout=7.0)
        assert 5.0 < float(answer) < 7.0 + WIRE_ROUNDING


async def test_without_a_deadline_the_default_counts_for_unary_calls_only() -> None:
    """A stream may be long; a named default changes that for one method."""
    behaviours = {UNARY: remaining, UNARY_STREAM: remaining_stream}
    settings = ServerSettings(default_deadline_s=12.0)
    async with (
        running_server([probe(behaviours)], settings) as server,
        open_channel(server.address) as channel,
    ):
        assert 10.0 < float((await call_all_kinds(channel, UNARY))[0]) <= 12.0
        assert await call_all_kinds(channel, UNARY_STREAM) == [b"none"]
    own = {"Unary": None, "UnaryStream": 60.0}
    async with (
        running_server([probe(behaviours, default_deadlines=own)], settings) as server,
        open_channel(server.address) as channel,
    ):
        assert await call_all_kinds(channel, UNARY) == [b"none"]
        assert 58.0 < float((await call_all_kinds(channel, UNARY_STREAM))[0]) <= 60.0


async def test_the_default_is_enforced() -> None:
    """A handler that hangs for a caller without deadline ends with DEADLINE_EXCEEDED."""

    async def hang(request: bytes, context: Any) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async with (
        running_server([probe({UNARY: hang})], ServerSettings(default_deadline_s=0.05)) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert "0.05 s" in str(caught.value.details())


async def test_a_timeout_of_the_handlers_own_is_a_bug_like_any_other() -> None:
    """Only the default's own expiry is the caller's deadline."""

    async def fail(request: bytes, context: Any) -> bytes:
        raise TimeoutError("some lock")

    async with (
        running_server([probe({UNARY: fail})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
    assert caught.value.code() is grpc.StatusCode.INTERNAL


class ExpiredContext:
    """The context of a call whose deadline passed on the way."""

    def time_remaining(self) -> float:
        return 0.0


async def test_an_expired_call_is_refused_before_any_work() -> None:
    """Work whose answer nobody awaits is not begun."""
    bound = deadline_bound(30.0)
    context: Any = ExpiredContext()
    worked = False
    with pytest.raises(DeadlineExceeded, match="when the call arrived"):
        async with bound(CalledMethod("/test.Probe/Unary", False, False), context):
            worked = True
    assert not worked


@pytest.mark.parametrize("kind", KINDS)
async def test_the_remainder_is_passed_on_for_every_kind(kind: str) -> None:
    """The second server sees less time than the first caller gave, though nobody passed it."""
    seen: list[float] = []

    async def note(request: Any, context: Any) -> bytes:
        await consumed(request)
        seen.append(context.time_remaining())
        return b""

    async def note_stream(request: Any, context: Any) -> AsyncIterator[bytes]:
        await consumed(request)
        seen.append(context.time_remaining())
        yield b""

    behaviour = note_stream if kind.endswith("Stream") else note
    async with running_server([probe({kind: behaviour})], ServerSettings()) as inner:

        async def forward(request: bytes, context: Any) -> bytes:
            async with open_channel(inner.address) as onward:
                await call_all_kinds(onward, kind)
            return b""

        async with (
            running_server([probe({UNARY: forward})], ServerSettings()) as outer,
            open_channel(outer.address) as channel,
        ):
            await call_all_kinds(channel, UNARY, timeout=8.0)
    assert 4.0 < seen[0] < 8.0 + WIRE_ROUNDING


async def test_a_call_without_time_left_is_not_sent() -> None:
    """The other side must not see a call that is late already."""
    served = False

    async def note(request: bytes, context: Any) -> bytes:
        nonlocal served
        served = True
        return b""

    async with (
        running_server([probe({UNARY: note})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with narrowed_deadline(0.0), pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert not served
