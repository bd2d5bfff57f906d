"""Errors across a real connection, in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis import errors
from chassis.channel import open_channel
from chassis.error_mapping import ERROR_DOMAIN, rich_status, service_error_from, visible_error
from chassis.errors import FieldViolation, InvalidArgument, NotFound, ServiceError
from chassis.request_id import METADATA_KEY
from chassis.server import ServerSettings, running_server
from tests.fakes.captured_log import CapturedLog
from tests.fakes.probe_service import (
    KINDS,
    STREAM_STREAM,
    UNARY,
    UNARY_STREAM,
    call_all_kinds,
    consumed,
    probe,
)

FAMILY = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ServiceError) and kind.__name__[0] != "_"
]


class WorkspaceNotFound(NotFound):
    """A subclass that the table does not know."""


def raising(error: Exception, kind: str = UNARY) -> dict[str, Any]:
    """Behaviour of a method that fails with this error."""

    async def answer(request: Any, context: Any) -> bytes:
        await consumed(request)
        raise error

    async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
        await consumed(request)
        yield b"first"
        raise error

    return {kind: stream if kind in (UNARY_STREAM, STREAM_STREAM) else answer}


def status_of(error: Any) -> status_pb2.Status:
    """Returns the rich status, read as any other client would."""
    status = rpc_status.from_call(error)
    assert status is not None
    return status


async def raised_by(error: Exception, kind: str = UNARY) -> grpc.aio.AioRpcError:
    """Returns what a caller gets when the servicer raises."""
    service = probe(raising(error, kind))
    async with (
        running_server([service], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, kind, metadata=((METADATA_KEY, "id-1"),))
        return caught.value


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
async def test_every_error_crosses_the_wire_and_comes_back(kind: type[ServiceError]) -> None:
    """Class, text and reason survive; the base class arrives as Internal, its nearest kin."""
    back = service_error_from(await raised_by(kind("déjà vu", reason="SEEN_BEFORE")))
    expected = errors.Internal if kind is ServiceError else kind
    assert type(back) is expected
    assert (back.message, back.reason) == ("déjà vu", "SEEN_BEFORE")


@pytest.mark.parametrize("kind", KINDS)
async def test_all_four_kinds_of_rpc_are_mapped(kind: str) -> None:
    """Streaming or not, a ServiceError gives its status."""
    error = await raised_by(NotFound("no such thing"), kind)
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert error.details() == "no such thing"


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unexpected_error_says_nothing_but_the_request_id(
    kind: str, log: CapturedLog
) -> None:
    """The caller gets INTERNAL and the id; the text and the traceback go to the log only."""
    error = await raised_by(ValueError("the secret detail"), kind)
    assert error.code() is grpc.StatusCode.INTERNAL
    assert error.details() == "internal error (request id id-1)"
    assert b"secret" not in repr(error.trailing_metadata()).encode()
    (line,) = log.named("unexpected error")
    assert "the secret detail" in line["exception"]
    assert "Traceback" in line["exception"]
    assert (line["request_id"], line["rpc_method"]) == ("id-1", kind)


async def test_a_subclass_maps_like_its_parent() -> None:
    """The table is resolved along the ancestors."""
    error = await raised_by(WorkspaceNotFound("no workspace 'x'"))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert type(service_error_from(error)) is NotFound


async def test_the_details_are_the_standard_ones() -> None:
    """Other clients find ErrorInfo, BadRequest and RetryInfo where they expect them."""
    invalid = await raised_by(InvalidArgument("too long", field="query", reason="QUERY_TOO_LONG"))
    status = status_of(invalid)
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(bad)
    assert (info.reason, info.domain) == ("QUERY_TOO_LONG", ERROR_DOMAIN)
    (violation,) = bad.field_violations
    assert (violation.field, violation.description) == ("query", "too long")

    full = await raised_by(errors.ResourceExhausted("full", retry_after_s=1.25))
    status = status_of(full)
    retry = error_details_pb2.RetryInfo()
    assert status.details[1].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 1250


async def test_violations_and_pause_come_back() -> None:
    """The client half gives what the server half got."""
    violations = (FieldViolation("a", "too long"), FieldViolation("b[1].c", "négatif"))
    back = service_error_from(await raised_by(InvalidArgument("two", violations=violations)))
    assert isinstance(back, InvalidArgument)
    assert back.violations == violations
    back = service_error_from(await raised_by(errors.Unavailable("later", retry_after_s=0.5)))
    assert isinstance(back, errors.Unavailable)
    assert back.retry_after_s == 0.5


async def test_abort_passes_with_its_own_status(log: CapturedLog) -> None:
    """A servicer that aborts keeps the code it chose, and nobody takes it for a bug."""

    async def abort(request: bytes, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.OUT_OF_RANGE, "beyond the end")
        raise AssertionError

    async with (
        running_server([probe({UNARY: abort})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
    assert caught.value.code() is grpc.StatusCode.OUT_OF_RANGE
    assert caught.value.details() == "beyond the end"
    assert log.named("unexpected error") == []
    assert type(service_error_from(caught.value)) is InvalidArgument


async def test_a_cancelled_handler_is_really_cancelled() -> None:
    """CancelledError is not turned into an answer: the handler learns that the caller left."""
    cancelled = asyncio.Event()
    entered = asyncio.Event()

    async def wait(request: bytes, context: Any) -> bytes:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    async with (
        running_server([probe({UNARY: wait})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        call = asyncio.ensure_future(call_all_kinds(channel, UNARY))
        await entered.wait()
        call.cancel()
        await cancelled.wait()


async def test_a_group_of_one_kind_maps_to_that_kind() -> None:
    """A TaskGroup in a servicer does not hide why its task failed."""

    async def grouped(request: bytes, context: Any) -> bytes:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_raise(NotFound("no passage 7")))
        raise AssertionError

    async with (
        running_server([probe({UNARY: grouped})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "no passage 7"


async def _raise(error: Exception) -> None:
    raise error


def test_only_groups_of_one_kind_are_visible() -> None:
    """Nested groups count by their members; a mixture or a bug inside shows nothing."""
    first = NotFound("1")
    assert (
        visible_error(ExceptionGroup("g", [ExceptionGroup("h", [first]), NotFound("2")])) is first
    )
    assert visible_error(ExceptionGroup("g", [NotFound("1"), errors.Unavailable("2")])) is None
    assert visible_error(ExceptionGroup("g", [NotFound("1"), ValueError("bug")])) is None
    assert visible_error(ValueError("bug")) is None


async def test_a_call_without_details_maps_by_its_status() -> None:
    """Foreign servers, and a server that is not there, give no details."""
    async with open_channel("127.0.0.1:1") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_all_kinds(channel, UNARY, timeout=5)
    back = service_error_from(caught.value)
    assert isinstance(back, errors.Unavailable)
    assert back.reason == "UNAVAILABLE"
    assert back.retry_after_s is None


async def test_errors_of_synchronous_calls_map_too() -> None:
    """The same function serves a synchronous client."""

    def call(address: str) -> ServiceError:
        with grpc.insecure_channel(address) as channel:
            untyped: Any = channel
            try:
                untyped.unary_unary(f"/{UNARY}")(b"", timeout=5)
            except grpc.RpcError as error:
                return service_error_from(error)
        raise AssertionError

    service = probe(raising(InvalidArgument("empty", field="query", reason="EMPTY_QUERY")))
    async with running_server([service], ServerSettings()) as server:
        back = await asyncio.to_thread(call, server.address)
    assert isinstance(back, InvalidArgument)
    assert (back.reason, back.field) == ("EMPTY_QUERY", "query")


def test_details_that_contradict_the_status_are_ignored() -> None:
    """A garbled trailer does not hide the status itself."""
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.NOT_FOUND,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff garbage")),
        "not here",
    )
    back = service_error_from(error)
    assert (type(back), back.message, back.reason) == (NotFound, "not here", "NOT_FOUND")


async def test_a_very_long_text_still_arrives_as_its_own_error() -> None:
    """Headers are small: texts are cut rather than the whole call lost."""
    violations = [FieldViolation(f"documents[{n}].text", "é" * 2000) for n in range(100)]
    back = service_error_from(await raised_by(InvalidArgument("è" * 9000, violations=violations)))
    assert isinstance(back, InvalidArgument)
    assert back.message.startswith("è" * 400)
    assert back.violations


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.text(max_size=3000),
    st.lists(st.tuples(st.text(max_size=300), st.text(max_size=900)), max_size=20),
)
def test_a_status_always_fits_into_headers(text: str, fields: list[tuple[str, str]]) -> None:
    """Whatever the text and the fields, the encoded status stays below 3 KiB."""
    violations = [FieldViolation(field, description) for field, description in fields]
    status = rich_status(InvalidArgument(text, violations=violations))
    assert status.ByteSize() < 3072
    assert len(status.message.encode()) <= 1024
