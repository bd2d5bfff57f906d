"""The id that ties together what several services log about one request.

It travels as metadata `x-request-id`. A caller may choose it (1 to 64 of `A-Za-z0-9._-`);
otherwise the first server makes one. Every server returns it: in the initial metadata of an answer,
in the trailing metadata of a failure.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

import grpc.aio
import structlog

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
    structlog.contextvars.bind_contextvars(request_id=request_id)


@asynccontextmanager
async def request_id_bound(_method: CalledMethod, context: ServicerContext) -> AsyncIterator[None]:
    """Server half: binds the caller's id, or a fresh one, to the call."""
    bind_request_id(accepted_request_id(_received(context.invocation_metadata())))
    yield


async def echo_request_id(context: ServicerContext) -> None:
    """Sends the id in the initial metadata of an answer that is about to begin.

    A call that fails before has it in its trailing metadata instead (see error_mapping): initial
    metadata commits the call, after which the client's own retry policy no longer applies.
    """
    # A handler that has sent initial metadata of its own leaves no room for ours.
    with suppress(grpc.aio.UsageError):
        await context.send_initial_metadata(((METADATA_KEY, current_request_id()),))


def outgoing_metadata(
    metadata: Iterable[tuple[str, str | bytes]] | None,
) -> list[tuple[str, str | bytes]]:
    """Client half: returns the metadata with the current request id, unless it names one."""
    pairs = list(metadata or ())
    request_id = current_request_id()
    if request_id and all(key != METADATA_KEY for key, _ in pairs):
        pairs.append((METADATA_KEY, request_id))
    return pairs


def _received(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    values = [value for key, value in metadata or () if key == METADATA_KEY]
    return values[0] if values and isinstance(values[0], str) else None
