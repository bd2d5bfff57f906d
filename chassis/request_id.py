"""The id that ties together what several services log about one request.

It travels as metadata `x-request-id`. A caller may choose it (1 to 64 of `A-Za-z0-9._-`);
otherwise the first server makes one. Every server returns it in the trailing metadata, of answers
and failures alike: initial metadata would cost each call a message of its own, and would commit
the call, after which the client's retry policy no longer applies.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from types import TracebackType

from chassis.interception import CalledMethod, ServicerContext

METADATA_KEY = "x-request-id"

_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """Returns the id of the request being served, or "" outside of one."""
    return _current.get()


def new_request_id() -> str:
    """Returns a fresh id: 32 hexadecimal digits."""
    return uuid.uuid4().hex


def accepted_request_id(candidate: str | None) -> str:
    """Returns the candidate if it is well formed, else a fresh id."""
    if candidate is not None and _ACCEPTED.fullmatch(candidate):
        return candidate
    return new_request_id()


def bind_request_id(request_id: str) -> None:
    """Makes this the id of the running task, in its calls to others and in its log lines."""
    _current.set(request_id)


def request_id_bound(
    _method: CalledMethod, context: ServicerContext
) -> AbstractAsyncContextManager[None]:
    """Server half: binds the caller's id, or a fresh one, to the call and returns it."""
    return _BoundCall(context)


class _BoundCall:
    __slots__ = ("_context",)

    def __init__(self, context: ServicerContext) -> None:
        self._context = context

    async def __aenter__(self) -> None:
        request_id = accepted_request_id(_received(self._context.invocation_metadata()))
        bind_request_id(request_id)
        self._context.set_trailing_metadata(((METADATA_KEY, request_id),))

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is None:
            # Again, in case the handler has set trailing metadata of its own.
            kept = outgoing_metadata(self._context.trailing_metadata())
            self._context.set_trailing_metadata(kept)


def outgoing_metadata(
    metadata: Iterable[tuple[str, str | bytes]] | None,
) -> list[tuple[str, str | bytes]]:
    """Returns the metadata with the current request id, unless it names one (client half)."""
    pairs = list(metadata or ())
    request_id = current_request_id()
    if request_id and all(key != METADATA_KEY for key, _ in pairs):
        pairs.append((METADATA_KEY, request_id))
    return pairs


def _received(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    values = [value for key, value in metadata or () if key == METADATA_KEY]
    return values[0] if values and isinstance(values[0], str) else None
