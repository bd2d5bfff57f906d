"""Every error of the HTTP door in one JSON shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from chassis.error_mapping import status_code_of, visible_error
from chassis.errors import FieldViolation, InvalidArgument, ServiceError, Unauthenticated
from chassis.request_id import current_request_id
from gateway.access.access import CHALLENGE
from gateway.http.error_shapes import shaped
from gateway.http.models.errors import ErrorBody, FieldViolationBody
from gateway.http.responses import JsonResponse
from gateway.pace import TOO_SLOW

HTTP_CODES: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_CODES_BY_REASON: Mapping[str, int] = {
    # Sending it again later would not help, as 429 would say.
    "BODY_TOO_LARGE": 413,
    "FILE_TOO_LARGE": 413,
    TOO_SLOW: 408,
}

MAX_VIOLATIONS = 20

_log = structlog.get_logger("gateway.http")


def error_response(error: Exception) -> JsonResponse:
    """Returns the answer to an error; one that is not meant for callers is logged instead."""
    visible = visible_error(error)
    if visible is None:
        _log.error("unexpected error", exc_info=error)
        return _response(500, "INTERNAL", "INTERNAL", "internal error")
    status = status_code_of(visible).name
    code = _CODES_BY_REASON.get(visible.reason, HTTP_CODES[status])
    violations = visible.violations if isinstance(visible, InvalidArgument) else ()
    return _response(
        code, status, visible.reason, visible.message, violations, _headers_of(visible)
    )


def install_error_handlers(app: FastAPI) -> None:
    """Answers every error of the application in the one shape."""

    @app.exception_handler(ServiceError)
    async def on_service_error(_request: Request, error: ServiceError) -> JsonResponse:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(request: Request, error: RequestValidationError) -> JsonResponse:
        content_type = request.headers.get("content-type", "")
        if error.body is not None and "json" not in content_type:
            return error_response(
                InvalidArgument("send the body as application/json", field="Content-Type")
            )
        return error_response(invalid_request(error.errors()))

    @app.exception_handler(Exception)
    async def on_unexpected_error(_request: Request, error: Exception) -> JsonResponse:
        return error_response(error)

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> JsonResponse:
        return _http_error_response(request, error)


def invalid_request(mistakes: Sequence[Mapping[str, Any]]) -> InvalidArgument:
    """Returns the error for what the body models refuse, one violation a mistake."""
    violations = [
        FieldViolation(_path(mistake["loc"]), f"{_path(mistake['loc'])}: {mistake['msg']}")
        for mistake in mistakes[:MAX_VIOLATIONS]
    ]
    return InvalidArgument(
        "; ".join(violation.description for violation in violations), violations=violations
    )


def _path(location: Sequence[int | str]) -> str:
    """Writes ("body", "history", 0, "text") as history[0].text."""
    parts = location[1:] if len(location) > 1 and location[0] in _PLACES else location
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


_PLACES = frozenset({"body", "query", "path", "header"})


def _http_error_response(request: Request, error: HTTPException) -> JsonResponse:
    route = f"{request.method} {request.url.path}"
    match error.status_code:
        case 404:
            return _response(404, "NOT_FOUND", "ROUTE_NOT_FOUND", f"there is no route {route}")
        case 405:
            message = f"{route} is not served; allowed: {(error.headers or {}).get('Allow', '')}"
            return _response(
                405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED", message, headers=error.headers
            )
        case code:
            return _response(code, "INVALID_ARGUMENT", "INVALID_ARGUMENT", str(error.detail))


def _response(
    code: int,
    status: str,
    reason: str,
    message: str,
    violations: Sequence[FieldViolation] = (),
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    body = shaped(
        ErrorBody(
            status=status,
            reason=reason,
            message=_encodable(message),
            field_violations=[
                FieldViolationBody(
                    field=_encodable(each.field), description=_encodable(each.description)
                )
                for each in violations
            ],
            request_id=current_request_id(),
        ),
        code,
    )
    return JsonResponse(body, code, dict(headers or {}))


def _headers_of(error: ServiceError) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": CHALLENGE}
    pause_s = getattr(error, "retry_after_s", None)
    return {} if pause_s is None else {"Retry-After": str(max(1, math.ceil(pause_s)))}


def _encodable(text: str) -> str:
    """Replaces halves of surrogate pairs, which a JSON body may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode()
