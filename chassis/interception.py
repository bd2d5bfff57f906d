"""One way to surround a call, whichever of the four kinds of RPC it is.

A concern is written once, as an async context manager over (method, context); this module puts
it around unary and streaming handlers alike. Streaming handlers are run to their end inside the
call's own task, so that cancellation reaches the surrounding code at once and in order.

What surrounds every call is a class rather than an async generator: the event loop keeps account of
each generator, which takes longer than most of what is done around a call.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
import grpc.aio

from chassis.decoding import Deserializer, all_decoded, decoded, tolerant

# Quoted, since these classes take parameters for the type checker only.
ServicerContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass(frozen=True, slots=True)
class CalledMethod:
    """The method of a call: `path` is `/package.Service/Method`."""

    path: str
    request_streaming: bool
    response_streaming: bool

    @property
    def service(self) -> str:
        """The full name of the service, without the method."""
        return self.path.strip("/").rpartition("/")[0]

    @property
    def name(self) -> str:
        """The name of the method alone."""
        return self.path.rpartition("/")[2]

    @property
    def full_name(self) -> str:
        """`package.Service/Method`."""
        return self.path.lstrip("/")


Surround = Callable[[CalledMethod, ServicerContext], AbstractAsyncContextManager[None]]

Behaviour: TypeAlias = Callable[[Any, ServicerContext], Any]


class SurroundingInterceptor(grpc.aio.ServerInterceptor):
    """Puts `surrounds` around the handler of every call, the first one outermost."""

    def __init__(self, surrounds: Sequence[Surround]) -> None:
        self._surrounds = tuple(surrounds)
        # By path and kind; a server looks the handler of every call up anew, and finds the same,
        # or the one that refuses it.
        self._surrounded: dict[tuple[str, bool, bool], tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Returns the handler that the rest of the chain gives, surrounded.

        A method without a handler stays without: the server answers UNIMPLEMENTED.
        """
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        kind = bool(handler.request_streaming), bool(handler.response_streaming)
        place = (handler_call_details.method, *kind)
        known = self._surrounded.get(place)
        if known is None or known[0] is not handler:
            known = handler, surrounded(handler, CalledMethod(*place), self._surrounds)
            self._surrounded[place] = known
        return known[1]


def surrounded(handler: Handler, method: CalledMethod, surrounds: Sequence[Surround]) -> Handler:
    """Returns a handler of the same kind that runs inside all `surrounds`."""
    behaviour = _of_decoded(behaviour_of(handler), method)
    run = _streamed(behaviour) if method.response_streaming else behaviour
    for surround in reversed(surrounds):
        run = _within(surround, method, run)
    return _handler(handler, run, tolerant(handler.request_deserializer))


def handler_like(handler: Handler, behaviour: Behaviour) -> Handler:
    """Returns a handler of the same kind and messages that does something else."""
    return _handler(handler, behaviour, handler.request_deserializer)


def _handler(handler: Handler, behaviour: Behaviour, deserializer: Deserializer | None) -> Handler:
    build = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)][0]
    return build(
        behaviour,
        request_deserializer=deserializer,
        response_serializer=handler.response_serializer,
    )


def _of_decoded(behaviour: Behaviour, method: CalledMethod) -> Behaviour:
    check = all_decoded if method.request_streaming else decoded

    def run(request: Any, context: ServicerContext) -> Any:
        return behaviour(check(request, method.full_name), context)

    return run


def _within(surround: Surround, method: CalledMethod, inner: Behaviour) -> Behaviour:
    async def run(request: Any, context: ServicerContext) -> Any:
        async with surround(method, context):
            return await inner(request, context)

    return run


def _streamed(behaviour: Behaviour) -> Behaviour:
    async def run(request: Any, context: ServicerContext) -> None:
        outcome = behaviour(request, context)
        if not isinstance(outcome, AsyncIterator):
            await outcome  # the handler writes by itself
            return
        async with aclosing(outcome) as messages:  # type: ignore[type-var]
            async for message in messages:
                await context.write(message)

    return run


_KINDS: dict[tuple[bool, bool], tuple[Callable[..., Handler], str]] = {
    (False, False): (grpc.unary_unary_rpc_method_handler, "unary_unary"),
    (False, True): (grpc.unary_stream_rpc_method_handler, "unary_stream"),
    (True, False): (grpc.stream_unary_rpc_method_handler, "stream_unary"),
    (True, True): (grpc.stream_stream_rpc_method_handler, "stream_stream"),
}


def behaviour_of(handler: Handler) -> Behaviour:
    """Returns what a handler does; TypeError unless it is `async def`."""
    kind = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)][1]
    behaviour: Behaviour = getattr(handler, kind)
    called = behaviour if inspect.isroutine(behaviour) else type(behaviour).__call__
    if not (inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)):
        # The server would run it in a thread, out of reach of cancellation and context.
        raise TypeError(f"the handler {behaviour!r} must be `async def`")
    return behaviour
