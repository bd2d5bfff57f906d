"""Who is let in to a server: a check before a request is read, and one before it is worked on.

A call that is refused at the first check costs no message: nothing of its request is taken from
the connection. At the second check the message is there (of a stream the first, and every later
one as it comes), and nothing has been done for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from contextvars import ContextVar
from typing import Any, Protocol

import grpc
import grpc.aio

from chassis.interception import Handler, ServicerContext, behaviour_of, handler_like

Metadata = Sequence[tuple[str, str | bytes]]


class Guard(Protocol):
    """Checks calls, in the task that serves them; every method may raise a ServiceError."""

    async def admit(self, method: str, metadata: Metadata) -> None:
        """Checks a call to `package.Service/Method` by what came with it."""
        ...

    def check(self, method: str, message: Any) -> None:
        """Checks a message of an admitted call."""
        ...

    def during(self) -> AbstractContextManager[None]:
        """Surrounds the work of an admitted call."""
        ...


class Entrance(grpc.aio.ServerInterceptor):
    """Puts a guard before every method of a server."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        # By path; the same handler each time, which those further out count on.
        self._guarded: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Returns the handler with checks in it, or one that refuses without reading.

        A method without a handler stays without: the server answers UNIMPLEMENTED.
        """
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        path = handler_call_details.method
        try:
            metadata = tuple(handler_call_details.invocation_metadata or ())
            await self._guard.admit(path.lstrip("/"), metadata)
        except Exception as error:
            # Raised again inside of the call, where errors become statuses and are logged.
            _refusal.set(error)
            return _REFUSING
        known = self._guarded.get(path)
        if known is None or known[0] is not handler:
            known = handler, _guarded(handler, path.lstrip("/"), self._guard)
            self._guarded[path] = known
        return known[1]


_refusal: ContextVar[Exception] = ContextVar("refusal")


async def _refuse(_requests: Any, _context: ServicerContext) -> None:
    raise _refusal.get()


# Whatever kind the method is: a handler of streams is called before a message is read.
_REFUSING: Handler = grpc.stream_stream_rpc_method_handler(_refuse)


def _guarded(handler: Handler, method: str, guard: Guard) -> Handler:
    behaviour = behaviour_of(handler)
    checked = _first_checked if handler.request_streaming else _checked

    async def answered(request: Any, context: ServicerContext) -> Any:
        with guard.during():
            return await behaviour(await checked(request, method, guard), context)

    async def streamed(request: Any, context: ServicerContext) -> AsyncGenerator[Any, None]:
        with guard.during():
            outcome = behaviour(await checked(request, method, guard), context)
            if not isinstance(outcome, AsyncIterator):
                await outcome  # the handler writes by itself
                return
            async with aclosing(outcome) as messages:  # type: ignore[type-var]
                async for message in messages:
                    yield message

    return handler_like(handler, streamed if handler.response_streaming else answered)


async def _checked(message: Any, method: str, guard: Guard) -> Any:
    guard.check(method, message)
    return message


async def _first_checked(
    messages: AsyncIterator[Any], method: str, guard: Guard
) -> AsyncIterator[Any]:
    """Checks the first message, and returns the stream that checks the others as they come."""
    first = await anext(messages, None)
    if first is not None:
        guard.check(method, first)
    return _all_checked(first, messages, method, guard)


async def _all_checked(
    first: Any, messages: AsyncIterator[Any], method: str, guard: Guard
) -> AsyncIterator[Any]:
    if first is None:
        return
    yield first
    async for message in messages:
        guard.check(method, message)
        yield message
