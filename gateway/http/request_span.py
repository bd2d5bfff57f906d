"""The span of one HTTP request, a child of its caller's; names by the conventions for HTTP."""

from __future__ import annotations

from contextlib import AbstractContextManager

from opentelemetry.trace import Span, SpanKind
from starlette.datastructures import Headers

from chassis.tracing.calls import received_context
from chassis.tracing.spans import current_tracer, fail, span

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def request_span(method: str, headers: Headers) -> AbstractContextManager[Span | None]:
    """Returns what runs its block as the span of a request."""
    method = known_method(method)
    if current_tracer() is None:
        return span(method)
    return span(
        method,
        {"http.request.method": method},
        kind=SpanKind.SERVER,
        parent=received_context(headers.items()),
    )


def name_request(request: Span | None, method: str, route: str, status: int) -> None:
    """Notes how a request ended; `route` is the template, empty where none fits."""
    if request is None:
        return
    if route:
        request.update_name(f"{known_method(method)} {route}")
        request.set_attribute("http.route", route)
    request.set_attribute("http.response.status_code", status)
    if status >= 500:
        fail(request, str(status))


def known_method(method: str) -> str:
    """Returns the method, or `_OTHER` for one that HTTP does not know."""
    return method if method in _METHODS else "_OTHER"
