"""What a floodgate sheds is told so before anything else of the server sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import ResourceExhausted
from chassis.interception import ServicerContext
from chassis.metrics import Metrics
from chassis.server import ServedService, ServerSettings, running_server
from chassis.shedding import Shedding

NAME = "test.GateService"


class Gate:
    """Sheds while it is shut."""

    def __init__(self) -> None:
        self.refusal = ResourceExhausted("too many", retry_after_s=1.5, reason="OVERLOADED")
        self.shut = False
        self.asked = 0

    def sheds(self) -> bool:
        """Implements the floodgate."""
        self.asked += 1
        return self.shut


class Served:
    """A bounded method and a free one, which note what they are called with."""

    def __init__(self) -> None:
        self.calls: list[bytes] = []

    async def bounded(self, request: bytes, _context: ServicerContext) -> bytes:
        """Answers with what it is sent."""
        self.calls.append(request)
        return request

    async def streamed(self, request: bytes, _context: ServicerContext) -> AsyncIterator[bytes]:
        """Answers twice."""
        self.calls.append(request)
        yield request
        yield request

    def service(self) -> ServedService:
        """Returns the service; messages are bytes."""
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Bounded": grpc.unary_unary_rpc_method_handler(self.bounded),
            "Streamed": grpc.unary_stream_rpc_method_handler(self.streamed),
            "Free": grpc.unary_unary_rpc_method_handler(self.bounded),
        }
        generic = grpc.method_handlers_generic_handler(NAME, handlers)
        return ServedService(NAME, lambda server: server.add_generic_rpc_handlers([generic]))


@pytest.fixture
def gate() -> Gate:
    """A floodgate that lets everything by."""
    return Gate()


@pytest.fixture
def served() -> Served:
    """The methods."""
    return Served()


@pytest.fixture
async def channel(gate: Gate, served: Served) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server with the floodgate before two of its methods."""
    settings = ServerSettings(drain_grace_s=0.0, reflection=False)
    shedding = Shedding(gate, {f"{NAME}/Bounded", f"{NAME}/Streamed"})
    async with (
        running_server(
            [served.service()], settings, metrics=Metrics(), shedding=shedding
        ) as server,
        open_channel(server.address, metrics=Metrics()) as opened,
    ):
        yield opened


async def answers(channel: grpc.aio.Channel, method: str) -> list[bytes]:
    """Calls a method and returns all that it answers."""
    path = f"/{NAME}/{method}"
    if method == "Streamed":
        stream: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(path)
        return [answer async for answer in stream(b"a", timeout=30)]
    single: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
    return [await single(b"a", timeout=30)]


@pytest.mark.parametrize("method", ["Bounded", "Streamed"])
async def test_a_shed_call_is_told_when_to_come_again(
    channel: grpc.aio.Channel, gate: Gate, served: Served, method: str
) -> None:
    """With the whole status of a refusal, and without reaching the method; later calls do."""
    gate.shut = True
    with pytest.raises(grpc.aio.AioRpcError) as shed:
        await answers(channel, method)
    error = service_error_from(shed.value)
    seen = list(served.calls)
    gate.shut = False
    answered = await answers(channel, method)

    assert isinstance(error, ResourceExhausted)
    assert (error.message, error.reason, error.retry_after_s) == ("too many", "OVERLOADED", 1.5)
    assert seen == []
    assert answered == [b"a"] * (2 if method == "Streamed" else 1)


async def test_other_methods_are_not_even_asked_about(
    channel: grpc.aio.Channel, gate: Gate
) -> None:
    """The floodgate is for the methods that it is given."""
    gate.shut = True

    assert await answers(channel, "Free") == [b"a"]
    assert gate.asked == 0
