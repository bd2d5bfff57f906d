"""A gRPC service without a contract: bytes in, bytes out, behaviour given by the test."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any

import grpc
import grpc.aio

from chassis.server import ServedService

PROBE = "test.Probe"
UNARY = f"{PROBE}/Unary"
UNARY_STREAM = f"{PROBE}/UnaryStream"
STREAM_UNARY = f"{PROBE}/StreamUnary"
STREAM_STREAM = f"{PROBE}/StreamStream"

Behaviour = Callable[[Any, Any], Any]

_BUILDERS: Mapping[str, Callable[..., Any]] = {
    UNARY: grpc.unary_unary_rpc_method_handler,
    UNARY_STREAM: grpc.unary_stream_rpc_method_handler,
    STREAM_UNARY: grpc.stream_unary_rpc_method_handler,
    STREAM_STREAM: grpc.stream_stream_rpc_method_handler,
}


async def echo(request: bytes, context: Any) -> bytes:
    """Returns what it gets."""
    return request


async def consumed(request: Any) -> None:
    """Reads a stream of requests to its end; does nothing with a single one.

    A handler that ends before its requests do races with the client's writes.
    """
    if isinstance(request, AsyncIterable):
        async for _ in request:
            pass


def probe(
    behaviours: Mapping[str, Behaviour] | None = None,
    *,
    default_deadlines: Mapping[str, float | None] | None = None,
    ready: bool = True,
) -> ServedService:
    """Returns the service; `behaviours` maps method names as above, unary echo by default."""
    handlers = {
        path.rpartition("/")[2]: _BUILDERS[path](behaviour)
        for path, behaviour in (behaviours or {UNARY: echo}).items()
    }

    def register(server: grpc.aio.Server) -> None:
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(PROBE, handlers)])

    return ServedService(PROBE, register, default_deadlines or {}, ready)


def unary(channel: grpc.aio.Channel, method: str = UNARY) -> Any:
    """Returns what calls a unary method; untyped, as without a contract the bytes are."""
    untyped: Any = channel
    return untyped.unary_unary(f"/{method}")


def unary_stream(channel: grpc.aio.Channel) -> Any:
    """Returns what calls the method that answers with a stream."""
    untyped: Any = channel
    return untyped.unary_stream(f"/{UNARY_STREAM}")


async def call_all_kinds(channel: grpc.aio.Channel, kind: str, **options: Any) -> list[bytes]:
    """Calls one method of whichever kind with b"1" (and b"2") and returns all it answers."""
    return (await call_with_trailing_metadata(channel, kind, **options))[0]


async def call_with_trailing_metadata(
    channel: grpc.aio.Channel, kind: str, **options: Any
) -> tuple[list[bytes], dict[str, Any]]:
    """The same, with the trailing metadata of the answer."""
    untyped: Any = channel

    async def requests() -> AsyncIterator[bytes]:
        yield b"1"
        yield b"2"

    if kind == UNARY:
        call = unary(channel)(b"1", **options)
    elif kind == UNARY_STREAM:
        call = unary_stream(channel)(b"1", **options)
    elif kind == STREAM_UNARY:
        call = untyped.stream_unary(f"/{kind}")(requests(), **options)
    else:
        call = untyped.stream_stream(f"/{kind}")(requests(), **options)
    answers = [message async for message in call] if kind.endswith("Stream") else [await call]
    return answers, dict(await call.trailing_metadata())


KINDS = (UNARY, UNARY_STREAM, STREAM_UNARY, STREAM_STREAM)
