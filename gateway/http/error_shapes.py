"""The shapes in which errors are told: ours, and OpenAI's on the paths that speak its language."""

from __future__ import annotations

from contextvars import ContextVar

from pydantic import BaseModel

from gateway.http.models.errors import ErrorAnswer, ErrorBody

OPENAI_PATHS = frozenset({"/v1/chat/completions", "/v1/models"})

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}


_CODES = {"WORKSPACE_NOT_FOUND": "model_not_found"}
"""Reasons for which OpenAI has words of its own."""


class OpenAiErrorBody(BaseModel):
    """What went wrong; `param` is the wrong field, `code` our reason in small letters."""

    message: str
    type: str
    param: str | None
    code: str


class OpenAiErrorAnswer(BaseModel):
    """An error as clients of OpenAI expect it."""

    error: OpenAiErrorBody


_speaks_openai: ContextVar[bool] = ContextVar("speaks_openai", default=False)


def bind_error_shape(path: str) -> None:
    """Makes errors of the request being answered look as its path has them."""
    _speaks_openai.set(path in OPENAI_PATHS)


def shaped(error: ErrorBody, code: int) -> dict[str, object]:
    """Returns the body of an error with this HTTP status."""
    if not _speaks_openai.get():
        return ErrorAnswer(error=error).model_dump(mode="json")
    fields = [violation.field for violation in error.field_violations]
    body = OpenAiErrorBody(
        message=error.message,
        type=_TYPES.get(code, "server_error" if code >= 500 else "invalid_request_error"),
        param=fields[0] if fields else None,
        code=_CODES.get(error.reason, error.reason.lower()),
    )
    return OpenAiErrorAnswer(error=body).model_dump(mode="json")
