"""Calls sent away before anything is done for them, not even a look at who calls.

A refusal that is logged, measured and explained takes its time. In a flood that is the time which
the calls let in would need; here a refusal is a status written once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Protocol

import grpc
import grpc.aio
from grpc_status import rpc_status

from chassis.error_mapping import rich_status
from chassis.errors import ResourceExhausted
from chassis.interception import Handler, ServicerContext


class Floodgate(Protocol):
    """Decides which calls of one kind are shed."""

    @property
    def refusal(self) -> ResourceExhausted:
        """What a shed call is told."""
        ...

    def sheds(self) -> bool:
        """Says whether the call that comes now is shed, and counts it if so."""
        ...


class Shedding(grpc.aio.ServerInterceptor):
    """Puts a floodgate before the named methods (`package.Service/Method`) of a server."""

    def __init__(self, floodgate: Floodgate, methods: Collection[str]) -> None:
        self._floodgate = floodgate
        self._paths = frozenset(f"/{method}" for method in methods)
        self._refusing = _refusing(floodgate.refusal)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Returns the handler that the rest of the chain gives, or one that refuses."""
        if handler_call_details.method in self._paths and self._floodgate.sheds():
            return self._refusing
        return await continuation(handler_call_details)


def _refusing(error: ResourceExhausted) -> Handler:
    status = rpc_status.to_status(rich_status(error))

    async def refuse(_requests: Any, context: ServicerContext) -> None:
        await context.abort(status.code, status.details, status.trailing_metadata)

    # Whatever kind the method is: a handler of streams is called before a message is read.
    return grpc.stream_stream_rpc_method_handler(refuse)
