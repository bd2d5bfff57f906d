"""What surrounds every request: id, deadline, body limit, headers, and an answer to any error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.request_id import accepted_request_id, bind_request_id
from chassis.shedding import Floodgate
from gateway.admission.bounded_calls import QUERY_ROUTES
from gateway.answers.answers import DEFAULT_DEADLINE_S as ANSWER_DEADLINE_S
from gateway.http.access import RouteGuard
from gateway.http.bodies import (
    ARCHIVE_BODY_BYTES,
    GLOSSARY_BODY_BYTES,
    JOB_BODY_BYTES,
    MAX_JSON_BYTES,
    UPLOAD_BODY_BYTES,
    check_announced_length,
    counted,
    read_whole,
)
from gateway.http.error_shapes import bind_error_shape
from gateway.http.errors import error_response
from gateway.http.measurement import RequestMeasurement
from gateway.http.request_span import name_request, request_span
from gateway.http.timeouts import TIMEOUT_HEADER, stated_timeout_s, within
from gateway.pace import Pace
from gateway.searches import DEFAULT_DEADLINE_S

REQUEST_ID_HEADER = "X-Request-Id"
OTHER_DEADLINE_S = 30.0

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
DOCS_POLICY = (
    "default-src 'none'; frame-ancestors 'none'; connect-src 'self'; img-src 'self' data:; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
)
"""The page of /docs starts its reader by a script of its own."""
HTTPS_ONLY = "max-age=31536000"
"""Has browsers come by HTTPS alone for a year, once they have come by it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a body of a route may be, and how long its requests take at most.

    `default_s` counts where the caller states no time-out; None means as long as it takes.
    `whole` bodies are read before the route begins.
    """

    max_bytes: int = MAX_JSON_BYTES
    default_s: float | None = OTHER_DEADLINE_S
    whole: bool = True


ROUTE_BOUNDS: Mapping[tuple[str, str], Bounds] = {
    ("POST", "/v1/search"): Bounds(default_s=DEFAULT_DEADLINE_S),
    ("POST", "/v1/context"): Bounds(default_s=DEFAULT_DEADLINE_S),
    ("POST", "/v1/answer"): Bounds(default_s=ANSWER_DEADLINE_S),
    ("POST", "/v1/chat/completions"): Bounds(default_s=ANSWER_DEADLINE_S),
    ("POST", "/v1/documents"): Bounds(UPLOAD_BODY_BYTES, default_s=None, whole=False),
    ("DELETE", "/v1/documents"): Bounds(default_s=None),
}
PATTERN_BOUNDS: Mapping[tuple[str, re.Pattern[str]], Bounds] = {
    ("POST", re.compile(r"/v1/workspaces/[^/]+/reembed")): Bounds(default_s=None),
    ("GET", re.compile(r"/v1/workspaces/[^/]+/export")): Bounds(default_s=None),
    ("POST", re.compile(r"/v1/workspaces/[^/]+/import")): Bounds(
        ARCHIVE_BODY_BYTES, default_s=None, whole=False
    ),
    ("DELETE", re.compile(r"/v1/workspaces/[^/]+/spaces")): Bounds(default_s=None),
    ("PUT", re.compile(r"/v1/workspaces/[^/]+/glossary")): Bounds(GLOSSARY_BODY_BYTES),
    ("POST", re.compile(r"/v1/workspaces/[^/]+/jobs")): Bounds(
        JOB_BODY_BYTES, default_s=None, whole=False
    ),
    ("GET", re.compile(r"/v1/workspaces/[^/]+/jobs/[^/]+/events")): Bounds(default_s=None),
}


def bounds_of(method: str, path: str) -> Bounds:
    """Returns the bounds of a route."""
    fitting = (
        bounds
        for (bound_method, pattern), bounds in PATTERN_BOUNDS.items()
        if bound_method == method and pattern.fullmatch(path)
    )
    return ROUTE_BOUNDS.get((method, path)) or next(fitting, Bounds())


class Surroundings:
    """Wraps the application; outermost, so that nothing leaves without passing here."""

    def __init__(
        self,
        app: ASGIApp,
        guard: RouteGuard,
        floodgate: Floodgate,
        pace: Pace,
        measurement: RequestMeasurement,
    ) -> None:
        self._app = app
        self._guard = guard
        self._floodgate = floodgate
        self._pace = pace
        self._measurement = measurement

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or sheds it."""
        started = self._measurement.clock()
        headers = Headers(scope=scope)
        request_id = accepted_request_id(headers.get(REQUEST_ID_HEADER))
        bind_request_id(request_id)
        bind_error_shape(scope["path"])
        answer = _Answer(send, request_id, scope["path"], encrypted=scope.get("scheme") == "https")
        if (scope["method"], scope["path"]) in QUERY_ROUTES and self._floodgate.sheds():
            await error_response(self._floodgate.refusal)(scope, receive, answer.send)
            return
        with request_span(scope["method"], headers) as span:
            try:
                await self._run(scope, headers, receive, answer)
            except Exception as error:
                # Errors of the routes have been answered there and come by once more.
                if not answer.status:
                    await error_response(error)(scope, receive, answer.send)
            finally:
                route = getattr(scope.get("route"), "path", "")
                name_request(span, scope["method"], route, answer.status)
                self._measurement.note(
                    scope["method"], route, answer.status, self._measurement.clock() - started
                )

    async def _run(self, scope: Scope, headers: Headers, receive: Receive, answer: _Answer) -> None:
        await self._guard.admit(scope)
        bounds = bounds_of(scope["method"], scope["path"])
        stated_s = stated_timeout_s(headers.get(TIMEOUT_HEADER))
        check_announced_length(headers, bounds.max_bytes)
        async with within(bounds.default_s if stated_s is None else stated_s):
            answer.reads_body = True
            if bounds.whole:
                receive = await read_whole(receive, bounds.max_bytes)
            else:
                receive = counted(receive, bounds.max_bytes, self._pace)
            with self._guard.during():
                await self._app(scope, receive, answer.send)


class _Answer:
    """Sends an answer with the headers that every answer has; `status` is 0 until it starts.

    Where `reads_body` is False the request was refused by its head alone.
    """

    def __init__(self, send: Send, request_id: str, path: str, *, encrypted: bool) -> None:
        self.status = 0
        self.reads_body = False
        self._send = send
        self._request_id = request_id
        self._path = path
        self._encrypted = encrypted

    async def send(self, message: Message) -> None:
        """Passes one message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            if self._path == "/docs":
                headers["Content-Security-Policy"] = DOCS_POLICY
            if self._encrypted:
                headers["Strict-Transport-Security"] = HTTPS_ONLY
            headers[REQUEST_ID_HEADER] = self._request_id
            if self.status in {408, 413} or not self.reads_body:
                # The rest of the body is not read.
                headers["Connection"] = "close"
        await self._send(message)
