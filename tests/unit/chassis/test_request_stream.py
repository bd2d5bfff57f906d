"""Refusing a stream of requests before its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import grpc
import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import NotFound
from chassis.request_stream import RefusalKept
from chassis.server import ServerSettings, running_server
from tests.fakes.probe_service import STREAM_UNARY, probe

FAILED_WRITE = (grpc.StatusCode.INTERNAL, "Internal error from Core")
REFUSAL = (grpc.StatusCode.NOT_FOUND, "no such workspace")


class FakeCall:
    """A call that goes through several statuses and shows the last one, as grpc.aio does."""

    def __init__(self) -> None:
        self.status = (grpc.StatusCode.OK, "")
        self._callbacks: list[Callable[[Any], None]] = []

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callbacks.append(callback)

    def end(self, status: tuple[grpc.StatusCode, str]) -> None:
        """Sets a status, as the first one or over another."""
        self.status = status
        for callback in self._callbacks:
            callback(self)

    async def code(self) -> grpc.StatusCode:
        return self.status[0]

    async def details(self) -> str:
        return self.status[1]

    async def trailing_metadata(self) -> Any:
        return grpc.aio.Metadata()

    def __await__(self) -> Generator[Any, None, bytes]:
        return self._answer().__await__()

    async def _answer(self) -> bytes:
        if self.status[0] is grpc.StatusCode.OK:
            return b"fine"
        empty = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(self.status[0], empty, empty, self.status[1])


@pytest.mark.parametrize("statuses", [[REFUSAL, FAILED_WRITE], [FAILED_WRITE, REFUSAL], [REFUSAL]])
async def test_the_servers_refusal_wins(statuses: list[tuple[grpc.StatusCode, str]]) -> None:
    """In whatever order the refusal and the failed write are noticed."""
    call = FakeCall()
    kept = RefusalKept(call)
    for status in statuses:
        call.end(status)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await kept
    assert (caught.value.code(), caught.value.details()) == REFUSAL
    assert (await kept.code(), await kept.details()) == REFUSAL


async def test_without_a_refusal_the_call_speaks_for_itself() -> None:
    """Success stays success, and a real failure of the write stays one."""
    call = FakeCall()
    kept = RefusalKept(call)
    call.end((grpc.StatusCode.OK, ""))
    assert await kept == b"fine"
    call.end(FAILED_WRITE)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await kept
    assert caught.value.code() is grpc.StatusCode.INTERNAL


async def test_an_upload_refused_at_its_first_message_says_why() -> None:
    """A caller that is still sending learns the reason every time, not nearly every time."""

    async def refuse(requests: AsyncIterator[bytes], context: Any) -> bytes:
        async for _ in requests:
            raise NotFound("no such workspace", reason="WORKSPACE_NOT_FOUND")
        raise AssertionError

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield bytes(32768)

    async with (
        running_server([probe({STREAM_UNARY: refuse})], ServerSettings()) as server,
        open_channel(server.address) as channel,
    ):
        untyped: Any = channel
        upload = untyped.stream_unary(f"/{STREAM_UNARY}")
        for _ in range(100):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await upload(pieces(), timeout=30)
            assert service_error_from(caught.value).reason == "WORKSPACE_NOT_FOUND"
