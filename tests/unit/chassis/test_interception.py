"""Surrounding a handler of any kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import grpc.aio
import pytest

from chassis.interception import CalledMethod, SurroundingInterceptor, surrounded
from tests.fakes.probe_service import (
    KINDS,
    UNARY,
    UNARY_STREAM,
    call_all_kinds,
    consumed,
    echo,
    probe,
)


def test_a_method_knows_its_parts() -> None:
    """Path, service and name of the same method."""
    method = CalledMethod("/justesse.x.v1.XService/DoThis", False, True)
    assert method.service == "justesse.x.v1.XService"
    assert method.name == "DoThis"
    assert method.full_name == "justesse.x.v1.XService/DoThis"


class Recorder:
    """Notes when the surrounding code runs."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @asynccontextmanager
    async def surround(self, method: CalledMethod, context: Any) -> AsyncIterator[None]:
        self.events.append(f"before {method.name}")
        try:
            yield
        finally:
            self.events.append(f"after {method.name}")


async def served(behaviour: Any, kind: str, recorder: Recorder) -> list[bytes]:
    """Serves one method inside the recorder and calls it."""
    server = grpc.aio.server(
        interceptors=[SurroundingInterceptor([recorder.surround])],
        options=[("grpc.so_reuseport", 0)],
    )
    probe({kind: behaviour}).register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            return await call_all_kinds(channel, kind)
    finally:
        await server.stop(None)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_surrounding_runs_once_around_the_whole_handler(kind: str) -> None:
    """It begins before the first message and ends after the last."""
    recorder = Recorder()

    async def answer(request: Any, context: Any) -> bytes:
        await consumed(request)
        recorder.events.append("inside")
        return b"x"

    async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
        await consumed(request)
        recorder.events.append("inside")
        yield b"x"
        yield b"y"
        recorder.events.append("sent")

    streaming = kind.endswith("Stream")
    answers = await served(stream if streaming else answer, kind, recorder)
    name = kind.rpartition("/")[2]
    assert answers == ([b"x", b"y"] if streaming else [b"x"])
    inside = ["inside", "sent"] if streaming else ["inside"]
    assert recorder.events == [f"before {name}", *inside, f"after {name}"]


async def test_a_handler_that_writes_by_itself_works_too() -> None:
    """The reader-writer style of grpc.aio is as good as a generator."""
    recorder = Recorder()

    async def write(request: bytes, context: Any) -> None:
        await context.write(b"1")
        await context.write(b"2")

    assert await served(write, UNARY_STREAM, recorder) == [b"1", b"2"]
    assert recorder.events == ["before UnaryStream", "after UnaryStream"]


async def test_surroundings_nest_in_their_order() -> None:
    """The first is outermost: it begins first and ends last."""
    events: list[str] = []

    def named(name: str) -> Any:
        @asynccontextmanager
        async def surround(method: CalledMethod, context: Any) -> AsyncIterator[None]:
            events.append(f"+{name}")
            yield
            events.append(f"-{name}")

        return surround

    method = CalledMethod("/test.Probe/Unary", False, False)
    plain: Any = grpc.unary_unary_rpc_method_handler(echo)
    wrapped: Any = surrounded(plain, method, [named("a"), named("b")])
    assert await wrapped.unary_unary(b"x", None) == b"x"
    assert events == ["+a", "+b", "-b", "-a"]


async def test_an_object_with_an_async_call_is_a_handler() -> None:
    """Handlers need not be functions."""

    class Answer:
        async def __call__(self, request: bytes, context: Any) -> bytes:
            return request

    assert await served(Answer(), UNARY, Recorder()) == [b"1"]


def test_a_synchronous_handler_is_refused() -> None:
    """It would run in a thread, where neither deadline nor request id reach it."""

    def blocking(request: bytes, context: Any) -> bytes:
        return request

    handler: Any = grpc.unary_unary_rpc_method_handler(blocking)
    method = CalledMethod("/test.Probe/Unary", False, False)
    with pytest.raises(TypeError, match="async def"):
        surrounded(handler, method, [Recorder().surround])


async def test_a_handler_is_surrounded_once_for_all_its_calls() -> None:
    """The same handler is not wrapped for every call; another one of the same path is."""
    interceptor = SurroundingInterceptor([Recorder().surround])
    details: Any = SimpleNamespace(method="/p.S/M")

    async def intercepted(handler: object) -> object:
        async def found(_details: object) -> Any:
            return handler

        return await interceptor.intercept_service(found, details)

    first: Any = grpc.unary_unary_rpc_method_handler(echo)
    second: Any = grpc.unary_unary_rpc_method_handler(echo)
    assert await intercepted(first) is await intercepted(first)
    assert await intercepted(first) is not await intercepted(second)
    assert await intercepted(None) is None
