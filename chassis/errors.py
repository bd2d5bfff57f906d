"""The errors a service may show to its caller, named by what the caller can do about them.

The text of a ServiceError reaches the caller; so does its reason, a stable word for programs.
Every other exception is a fault of ours: the caller learns nothing of it but a request id.
"""

# ruff: noqa: N818 - named after the statuses they stand for

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

_REASON = re.compile(r"[A-Z][A-Z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One wrong field of a request: its path (`queries[0].text`) and what is wrong with it."""

    field: str
    description: str


class ServiceError(Exception):
    """An error whose text is meant for the caller.

    `reason` is UPPER_SNAKE, at most 63 characters, and stays the same when the text changes.
    """

    default_reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        if not _REASON.fullmatch(self.reason):
            raise ValueError(f"reason must be UPPER_SNAKE, at most 63 characters: {reason!r}")

    def __str__(self) -> str:
        return self.message


class InvalidArgument(ServiceError):
    """The request is wrong in itself: correct it before sending it again."""

    default_reason = "INVALID_ARGUMENT"

    def __init__(
        self,
        message: str,
        *,
        field: str = "",
        violations: Iterable[FieldViolation] = (),
        reason: str = "",
    ) -> None:
        super().__init__(message, reason=reason)
        self.field = field
        named = (FieldViolation(field, message),) if field else ()
        self.violations: tuple[FieldViolation, ...] = tuple(violations) or named


class NotFound(ServiceError):
    """The thing named in the request does not exist."""

    default_reason = "NOT_FOUND"


class AlreadyExists(ServiceError):
    """The thing to be created is there already."""

    default_reason = "ALREADY_EXISTS"


class FailedPrecondition(ServiceError):
    """The request is sound, but the state of the system forbids it: change the state first."""

    default_reason = "FAILED_PRECONDITION"


class Aborted(ServiceError):
    """Somebody else changed the same thing meanwhile: read again, then repeat the whole step."""

    default_reason = "ABORTED"


class PermissionDenied(ServiceError):
    """The caller is known and may not do this."""

    default_reason = "PERMISSION_DENIED"


class Unauthenticated(ServiceError):
    """The caller has not said, or not proved, who it is."""

    default_reason = "UNAUTHENTICATED"


class Unimplemented(ServiceError):
    """This service does not do that."""

    default_reason = "UNIMPLEMENTED"


class DataLoss(ServiceError):
    """Stored data is damaged: a person must look."""

    default_reason = "DATA_LOSS"


class DeadlineExceeded(ServiceError):
    """The time the caller allowed is used up; the work may or may not have been done."""

    default_reason = "DEADLINE_EXCEEDED"


class Internal(ServiceError):
    """A fault of ours which is known well enough to be described to the caller."""


class _Retryable(ServiceError):
    """Adds the pause, in seconds, after which another try makes sense; None when unknown."""

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, reason: str = ""
    ) -> None:
        super().__init__(message, reason=reason)
        self.retry_after_s = retry_after_s


class Unavailable(_Retryable):
    """A needed part does not answer now: try again later."""

    default_reason = "UNAVAILABLE"


class ResourceExhausted(_Retryable):
    """A quota, a rate, a queue or a disk is full: try again later, or with less."""

    default_reason = "RESOURCE_EXHAUSTED"
