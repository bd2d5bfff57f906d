"""The two halves of a traced call: its span on either side, and the context that ties them.

Names and attributes follow the OpenTelemetry conventions for RPC: a span bears the full name of
the method. The context travels as metadata `traceparent` and `tracestate` (W3C Trace Context).
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

import grpc.aio
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from chassis.finished_call import code_of_finished
from chassis.interception import CalledMethod, ServicerContext
from chassis.metrics import ended_status
from chassis.tracing.spans import current_tracer, fail, span

_PROPAGATOR = TraceContextTextMapPropagator()
_HEADERS = ("traceparent", "tracestate")
# The others are the caller's doing, and no errors of the server that answers with them.
_ERRORS_OF_SERVERS = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
_RETRIES_HEADER = "grpc-previous-rpc-attempts"


def received_context(headers: Iterable[tuple[str, str | bytes]] | None) -> Context:
    """Returns the caller's context out of headers in lower case; an empty one where it is none."""
    return _PROPAGATOR.extract(
        {key: value for key, value in headers or () if key in _HEADERS and isinstance(value, str)},
        Context(),
    )


class TracedCall:
    """Server half: surrounds a call by a span, a child of the caller's."""

    __slots__ = ("_context", "_method", "_running", "_span")

    def __init__(self, method: CalledMethod, context: ServicerContext) -> None:
        self._method = method
        self._context = context

    async def __aenter__(self) -> None:
        metadata = tuple(self._context.invocation_metadata() or ())
        attributes: dict[str, str | int] = {
            "rpc.system.name": "grpc",
            "rpc.method": self._method.full_name,
        }
        attempts = [value for key, value in metadata if key == _RETRIES_HEADER]
        if attempts and str(attempts[0]).isdecimal():
            attributes["justesse.rpc.previous_attempts"] = int(attempts[0])
        self._running = span(
            self._method.full_name,
            attributes,
            kind=SpanKind.SERVER,
            parent=received_context(metadata),
        )
        self._span = self._running.__enter__()

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        status = ended_status(self._context, error)
        if self._span is not None:
            self._span.set_attribute("rpc.response.status_code", status)
            if status in _ERRORS_OF_SERVERS:
                fail(self._span, status)
        self._running.__exit__(None, None, None)


def started_call(path: str, server: str) -> Span | None:
    """Client half: starts the span of a call of `/package.Service/Method` at `host:port`."""
    tracer = current_tracer()
    if tracer is None:
        return None
    method = path.lstrip("/")
    host, _, port = server.rpartition("/")[2].rpartition(":")
    attributes: dict[str, str | int] = {"rpc.system.name": "grpc", "rpc.method": method}
    if host and port.isdecimal():
        attributes |= {"server.address": host, "server.port": int(port)}
    return tracer.start_span(method, kind=SpanKind.CLIENT, attributes=attributes)


def add_context(pairs: list[tuple[str, str | bytes]], calling: Span) -> None:
    """Adds the headers that make the other side's span a child of this one."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, trace.set_span_in_context(calling))
    pairs.extend(carrier.items())


def end_with_call(calling: Span, call: grpc.aio.Call) -> None:
    """Ends the span with the call and its status."""

    def ended(_ended: object) -> None:
        # Called again if a write fails after the call has ended; a span ends once.
        if calling.is_recording():
            code = code_of_finished(call).name
            calling.set_attribute("rpc.response.status_code", code)
            if code != "OK":
                fail(calling, code)
            calling.end()

    call.add_done_callback(ended)
