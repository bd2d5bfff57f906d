"""Spans of the running task, while the process has a tracer.

Without a tracer nothing is made, read or passed on. Attributes and statuses hold names, codes and
numbers: never a text of users, and never the message of an error, which may quote one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context as Copied
from contextvars import Token
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer

from chassis.errors import ServiceError

Item = TypeVar("Item")
Attributes: TypeAlias = Mapping[str, str | int | float | bool]

_tracer: Tracer | None = None
_NO_SPAN: AbstractContextManager[Any] = nullcontext()


def current_tracer() -> Tracer | None:
    """Returns the tracer of the process, or None while spans are not wanted."""
    return _tracer


@contextmanager
def traced_by(tracer: Tracer) -> Iterator[None]:
    """Makes this the tracer of the process while inside."""
    global _tracer
    before = _tracer
    _tracer = tracer
    try:
        yield
    finally:
        _tracer = before


def current_trace_id() -> str:
    """Returns the id of the trace of the running task, 32 hexadecimal digits, or ""."""
    if _tracer is None:
        return ""
    span_context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(span_context.trace_id) if span_context.is_valid else ""


def bare_context() -> Copied:
    """Returns a context with nothing of the running task in it but the span that it is in.

    For a task that works for several callers, of which the running one is the first.
    """
    bare = Copied()
    if _tracer is not None:
        bare.run(contexts.attach, trace.set_span_in_context(trace.get_current_span(), Context()))
    return bare


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
    current: bool = True,
    links: Sequence[Link] = (),
) -> AbstractContextManager[Span | None]:
    """Returns what runs its block as a span, or does nothing while there is no tracer.

    What leaves the block by an exception ends as an error of its reason or class. The span is the
    parent of those that begin inside only where it is made `current`.
    """
    if _tracer is None:
        return _NO_SPAN
    return _OpenSpan(_tracer.start_span(name, parent, kind, attributes, links), current=current)


async def read_within(
    reading: Span | None, items: AsyncGenerator[Item, None]
) -> AsyncGenerator[Item, None]:
    """Yields the items; the span is current while they are made, not while they are used."""
    while True:
        within = trace.use_span(reading, False, False, False) if reading else _NO_SPAN
        with within:
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
        yield item


class _OpenSpan:
    __slots__ = ("_current", "_span", "_token")

    def __init__(self, started: Span, *, current: bool) -> None:
        self._span = started
        self._current = current
        self._token: Token[Context] | None = None

    def __enter__(self) -> Span:
        if self._current:
            self._token = contexts.attach(trace.set_span_in_context(self._span))
        return self._span

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is not None:
            fail(self._span, error_type(error))
        if self._token is not None:
            contexts.detach(self._token)
        self._span.end()


def fail(failed: Span, kind_of_error: str) -> None:
    """Gives a span the status of an error, of a kind that is a name or a code."""
    failed.set_attribute("error.type", kind_of_error)
    failed.set_status(Status(StatusCode.ERROR, kind_of_error))


def error_type(error: BaseException) -> str:
    """Returns the name of an error, which says nothing of its message."""
    if isinstance(error, ServiceError):
        return error.reason
    if isinstance(error, asyncio.CancelledError):
        return "CANCELLED"
    return type(error).__name__
