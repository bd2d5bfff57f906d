"""Request ids: accepted, made, echoed, passed on, logged."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from chassis.channel import open_channel
from chassis.errors import Unavailable
from chassis.request_id import (
    METADATA_KEY,
    accepted_request_id,
    bind_request_id,
    current_request_id,
    outgoing_metadata,
)
from chassis.server import ServerSettings, running_server
from tests.fakes.captured_log import CapturedLog
from tests.fakes.probe_service import (
    KINDS,
    UNARY,
    call_all_kinds,
    call_with_trailing_metadata,
    consumed,
    probe,
    unary,
)

FRESH = re.compile(r"[0-9a-f]{32}")


async def tell(request: bytes, context: Any) -> bytes:
    """A handler that answers with the id it sees."""
    structlog.get_logger("probe").info("inside")
    return current_request_id().encode()


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=80))
def test_only_well_formed_ids_are_accepted(candidate: str) -> None:
    """Whatever comes, the id used has 1 to 64 harmless characters."""
    request_id = accepted_request_id(candidate)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", request_id)
    if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", candidate):
        assert request_id == candidate
    else:
        assert FRESH.fullmatch(request_id)


def test_an_absent_id_is_made() -> None:
    """Each request without an id gets its own."""
    first, second = accepted_request_id(None), accepted_request_id(None)
    assert FRESH.fullmatch(first)
    assert first != second


@pytest.mark.parametrize("given_id", ["order-7.retry_2", "x" * 64])
async def test_a_good_id_is_used_and_echoed(given_id: str) -> None:
    """The handler sees the caller's id, and so does the caller in the trailing metadata."""
    async with (
        running_server([probe({UNARY: tell})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        call = unary(channel)(b"", metadata=((METADATA_KEY, given_id),))
        assert await call == given_id.encode()
        assert dict(await call.trailing_metadata())[METADATA_KEY] == given_id


async def test_a_failure_bears_the_id_too() -> None:
    """Its status replaces all other trailing metadata, but not this."""

    async def fail(request: bytes, context: Any) -> bytes:
        raise Unavailable("later")

    async with (
        running_server([probe({UNARY: fail})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY, metadata=((METADATA_KEY, "id-5"),))
    assert dict(caught.value.trailing_metadata())[METADATA_KEY] == "id-5"


@pytest.mark.parametrize("kind", KINDS)
async def test_metadata_of_the_handlers_own_stay_beside_the_id(kind: str) -> None:
    """Whatever the kind, and whatever the handler sets."""

    async def answer(request: Any, context: Any) -> bytes:
        await consumed(request)
        context.set_trailing_metadata((("mine", "1"),))
        return b""

    async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
        yield await answer(request, context)

    behaviour = stream if kind.endswith("Stream") else answer
    async with (
        running_server([probe({kind: behaviour})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        _, metadata = await call_with_trailing_metadata(
            channel, kind, metadata=((METADATA_KEY, "id-6"),)
        )
    assert metadata["mine"] == "1"
    assert metadata[METADATA_KEY] == "id-6"


@pytest.mark.parametrize("bad_id", ["", "two words", "a;b", "x" * 65, "{json}"])
async def test_a_bad_id_is_replaced_and_the_new_one_echoed(bad_id: str) -> None:
    """Nothing a caller sends can break a log line."""
    async with (
        running_server([probe({UNARY: tell})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        call = unary(channel)(b"", metadata=((METADATA_KEY, bad_id),))
        seen = (await call).decode()
        assert FRESH.fullmatch(seen)
        assert dict(await call.trailing_metadata())[METADATA_KEY] == seen


@pytest.mark.parametrize("kind", KINDS)
async def test_the_id_travels_with_every_kind_of_call(kind: str) -> None:
    """A call made while serving bears the id of the request that caused it."""
    seen: list[str] = []

    async def note(request: Any, context: Any) -> bytes:
        await consumed(request)
        seen.append(current_request_id())
        return b""

    async def note_stream(request: Any, context: Any) -> Any:
        await consumed(request)
        seen.append(current_request_id())
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
            await call_all_kinds(channel, UNARY, metadata=((METADATA_KEY, "first.mover"),))
    assert seen == ["first.mover"]


async def test_log_lines_of_a_request_bear_its_id_and_no_other(log: CapturedLog) -> None:
    """The id is bound for the call alone: the next call does not inherit it."""
    async with (
        running_server([probe({UNARY: tell})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        for name in ("one", "two"):
            await call_all_kinds(channel, UNARY, metadata=((METADATA_KEY, name),))
    assert [line["request_id"] for line in log.named("inside")] == ["one", "two"]
    assert all("request_id" not in line for line in log.named("stopped"))
    assert current_request_id() == ""


def test_an_explicit_id_is_not_doubled() -> None:
    """Metadata that names an id keeps it, whatever the current one is."""
    bind_request_id("current")
    try:
        own = ((METADATA_KEY, "own"), ("other", "1"))
        assert outgoing_metadata(own) == list(own)
        assert outgoing_metadata((("other", "1"),)) == [("other", "1"), (METADATA_KEY, "current")]
        assert outgoing_metadata(None) == [(METADATA_KEY, "current")]
    finally:
        bind_request_id("")
