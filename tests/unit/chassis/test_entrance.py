"""A guard is asked before a request is read and before it is worked on, whatever kind it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.entrance import Metadata
from chassis.errors import PermissionDenied, Unauthenticated
from chassis.interception import ServicerContext
from chassis.metrics import Metrics
from chassis.server import ServedService, ServerSettings, running_server

NAME = "test.EchoService"
KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")


@dataclass
class Door:
    """Admits who knows the word, refuses messages that say `stop`, and notes what it sees."""

    checked: list[bytes] = field(default_factory=list)
    within: int = 0
    broken: bool = False

    async def admit(self, method: str, metadata: Metadata) -> None:
        """Implements the guard."""
        if self.broken:
            raise ZeroDivisionError("a fault with a secret in it")
        if ("word", "sesame") not in metadata:
            raise Unauthenticated(f"say the word to {method}")

    def check(self, method: str, message: Any) -> None:
        """Implements the guard."""
        self.checked.append(message)
        if message == b"stop":
            raise PermissionDenied("not this")

    def during(self) -> AbstractContextManager[None]:
        """Implements the guard."""
        return self._entered()

    @contextmanager
    def _entered(self) -> Iterator[None]:
        self.within += 1
        try:
            yield
        finally:
            self.within -= 1


@dataclass
class Echo:
    """A service with a method of each kind that answers with what it is sent."""

    worked_on: list[bytes] = field(default_factory=list)

    async def unary_unary(self, request: bytes, _context: ServicerContext) -> bytes:
        """Answers once."""
        self.worked_on.append(request)
        return request

    async def unary_stream(self, request: bytes, _context: ServicerContext) -> AsyncIterator[bytes]:
        """Answers twice."""
        self.worked_on.append(request)
        yield request
        yield request

    async def stream_unary(
        self, requests: AsyncIterator[bytes], _context: ServicerContext
    ) -> bytes:
        """Answers with all at once."""
        async for request in requests:
            self.worked_on.append(request)
        return b"".join(self.worked_on)

    async def stream_stream(self, requests: AsyncIterator[bytes], context: ServicerContext) -> None:
        """Writes by itself."""
        async for request in requests:
            self.worked_on.append(request)
            await context.write(request)

    def served(self) -> ServedService:
        """Returns the service; messages are bytes."""
        handlers = {
            kind: getattr(grpc, f"{kind}_rpc_method_handler")(getattr(self, kind)) for kind in KINDS
        }
        generic = grpc.method_handlers_generic_handler(NAME, handlers)
        return ServedService(NAME, lambda server: server.add_generic_rpc_handlers([generic]))


@pytest.fixture
def door() -> Door:
    """A guard."""
    return Door()


@pytest.fixture
def echo() -> Echo:
    """A service."""
    return Echo()


@pytest.fixture
async def channel(door: Door, echo: Echo) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the guarded service."""
    settings = ServerSettings(drain_grace_s=0.0, reflection=False)
    async with (
        running_server([echo.served()], settings, metrics=Metrics(), guard=door) as server,
        open_channel(server.address, metrics=Metrics()) as opened,
    ):
        yield opened


async def answers(
    channel: grpc.aio.Channel, kind: str, *messages: bytes, word: str = "sesame"
) -> list[bytes]:
    """Calls the method of a kind and returns what it answers."""
    sent: Any = iter(messages) if kind.startswith("stream") else messages[0]
    call = getattr(channel, kind)(f"/{NAME}/{kind}")(sent, metadata=(("word", word),), timeout=30)
    if kind.endswith("unary"):
        return [await call]
    return [answer async for answer in call]


@pytest.mark.parametrize("kind", KINDS)
async def test_who_is_admitted_is_served(
    channel: grpc.aio.Channel, door: Door, echo: Echo, kind: str
) -> None:
    """Every message passes the guard once, in order, and the work lies within it."""
    sent = [b"a", b"b", b"c"] if kind.startswith("stream") else [b"a"]

    received = b"".join(await answers(channel, kind, *sent))

    assert received == (b"aa" if kind == "unary_stream" else b"".join(sent))
    assert door.checked == echo.worked_on == sent
    assert door.within == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_who_is_not_admitted_sends_in_vain(
    channel: grpc.aio.Channel, door: Door, echo: Echo, kind: str
) -> None:
    """No message is looked at; good calls before and after are served."""
    for _ in range(2):
        await answers(channel, kind, b"a")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await answers(channel, kind, b"b", word="abracadabra")
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert refused.value.details() == f"say the word to {NAME}/{kind}"

    assert b"b" not in door.checked + echo.worked_on


@pytest.mark.parametrize(
    ("kind", "before"),
    [*((kind, 0) for kind in KINDS), ("stream_unary", 2), ("stream_stream", 2)],
)
async def test_a_refused_message_is_not_worked_on(
    channel: grpc.aio.Channel, door: Door, echo: Echo, kind: str, before: int
) -> None:
    """The first of a stream, and a later one."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await answers(channel, kind, *[b"a"] * before, b"stop")

    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert echo.worked_on == [b"a"] * before
    assert door.within == 0


@pytest.mark.parametrize("kind", ["stream_unary", "stream_stream"])
async def test_a_stream_without_messages_is_served(channel: grpc.aio.Channel, kind: str) -> None:
    """There is nothing to check in it."""
    assert b"".join(await answers(channel, kind)) == b""


async def test_a_fault_of_the_guard_lets_nobody_in(
    channel: grpc.aio.Channel, door: Door, echo: Echo
) -> None:
    """And is told in neutral words."""
    door.broken = True

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await answers(channel, "unary_unary", b"a")

    assert refused.value.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in (refused.value.details() or "")
    assert echo.worked_on == []


async def test_a_method_that_is_not_there_stays_so(channel: grpc.aio.Channel) -> None:
    """The guard is not asked."""
    call: Any = channel.unary_unary(f"/{NAME}/Nothing")

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call(b"")

    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
