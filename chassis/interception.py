"""One way to surround a call, whichever of the four kinds of RPC it is.

A concern is written once, as an async context manager over (method, context); this module puts
it around unary and streaming handlers alike. Streaming handlers are run to their end inside the
call's own task, so that cancellation reaches the surrounding code at once and in order.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
import grpc.aio

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


class SurroundingInterceptor(grpc.aio.ServerInterceptor):
    """Puts `surrounds` around the handler of every call, the first one outermost."""

    def __init__(self, surrounds: Sequence[Surround]) -> None:
        self._surrounds = tuple(surrounds)

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
        method = CalledMethod(
            handler_call_details.method,
            bool(handler.request_streaming),
            bool(handler.response_streaming),
        )
        return surrounded(handler, method, self._surrounds)


def surrounded(handler: Handler, method: CalledMethod, surrounds: Sequence[Surround]) -> Handler:
    """Returns a handler of the same kind that runs inside all `surrounds`."""
    inner = _behaviour(handler)

    async def answer(request: Any, context: ServicerContext) -> Any:
        async with AsyncExitStack() as stack:
            for surround in surrounds:
                await stack.enter_async_context(surround(method, context))
            return await inner(request, context)

    async def stream(request: Any, context: ServicerContext) -> None:
        async with AsyncExitStack() as stack:
            for surround in surrounds:
                await stack.enter_async_context(surround(method, context))
            outcome = inner(request, context)
            if not isinstance(outcome, AsyncIterator):
                await outcome  # the handler writes by itself
                return
            async with aclosing(outcome) as messages:  # type: ignore[type-var]
                async for message in messages:
                    await context.write(message)

    build = _KINDS[method.request_streaming, method.response_streaming][0]
    return build(
        stream if method.response_streaming else answer,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )


_KINDS: dict[tuple[bool, bool], tuple[Callable[..., Handler], str]] = {
    (False, False): (grpc.unary_unary_rpc_method_handler, "unary_unary"),
    (False, True): (grpc.unary_stream_rpc_method_handler, "unary_stream"),
    (True, False): (grpc.stream_unary_rpc_method_handler, "stream_unary"),
    (True, True): (grpc.stream_stream_rpc_method_handler, "stream_stream"),
}


def _behaviour(handler: Handler) -> Callable[[Any, ServicerContext], Any]:
    kind = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)][1]
    behaviour: Callable[[Any, ServicerContext], Any] = getattr(handler, kind)
    called = behaviour if inspect.isroutine(behaviour) else type(behaviour).__call__
    if not (inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)):
        # The server would run it in a thread, out of reach of cancellation and context.
        raise TypeError(f"the handler {behaviour!r} must be `async def`")
    return behaviour
