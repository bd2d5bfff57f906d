"""The status of a call that its service ended while the client was still sending.

grpc.aio loses it: a write that fails because the call is over replaces the service's status by an
INTERNAL of its own (grpc issue 36066). The status that came first is the service's.
"""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc.aio

T = TypeVar("T")

_STATUS_OF_A_FAILED_WRITE = "Internal error from Core"


@dataclass(frozen=True, slots=True)
class EndedCall:
    """What a call ended with; has the form of an error that gRPC raises."""

    status: grpc.StatusCode
    text: str | None
    trailing: tuple[tuple[str, str | bytes], ...]

    def code(self) -> grpc.StatusCode:
        """Returns the status."""
        return self.status

    def details(self) -> str | None:
        """Returns the text of the status."""
        return self.text

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Returns the trailing metadata."""
        return self.trailing


class EarlyStatus:
    """Notes with what a call ends first."""

    def __init__(self, call: grpc.aio.StreamUnaryCall[Any, Any]) -> None:
        self._first: EndedCall | None = None
        call.add_done_callback(lambda _: self._note(call))

    def failure_or(self, error: grpc.aio.AioRpcError) -> EndedCall | grpc.aio.AioRpcError:
        """Returns the failure that the service reported, otherwise `error`."""
        first = self._first
        if (
            first is None
            or first.status is grpc.StatusCode.OK
            or first.text == _STATUS_OF_A_FAILED_WRITE
        ):
            return error
        return first

    def _note(self, call: grpc.aio.StreamUnaryCall[Any, Any]) -> None:
        self._first = EndedCall(
            _at_once(call.code()),
            _at_once(call.details()),
            tuple(_at_once(call.trailing_metadata()) or ()),
        )


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Returns what a coroutine gives that need not wait; a task would come too late."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    coroutine.close()
    raise RuntimeError("the call has no status yet")
