"""The errors that the client raises.

A status says what can be done about a failure, so every status has its class; the message is the
service's own, meant for people, and `reason` is the UPPER_SNAKE word that programs may compare.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field of a request."""

    field: str
    description: str


class JustesseError(Exception):
    """A call that failed.

    `status` is the canonical status ("NOT_FOUND"), `reason` the service's word for the cause
    ("WORKSPACE_NOT_FOUND"), empty where it gave none; `request_id` finds the call in the logs.
    """

    def __init__(
        self,
        message: str,
        *,
        status: str = "UNKNOWN",
        reason: str = "",
        request_id: str = "",
        violations: tuple[FieldViolation, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.request_id = request_id
        self.violations = violations
        self.retry_after_s = retry_after_s


class InvalidRequestError(JustesseError):
    """The request is wrong; `violations` names the fields."""


class NotFoundError(JustesseError):
    """There is no such workspace, document or switch."""


class AlreadyExistsError(JustesseError):
    """There is one of that name already."""


class FailedPreconditionError(JustesseError):
    """The system is not in the state that the call needs."""


class PermissionDeniedError(JustesseError):
    """The caller may not do this."""


class UnauthenticatedError(JustesseError):
    """The caller did not say who it is, or not believably."""


class ResourceExhaustedError(JustesseError):
    """A limit or quota is used up; `retry_after_s` says when to come back, where that is known."""


class UnavailableError(JustesseError):
    """The service cannot be reached, or lacks a part it needs; the same call may succeed later."""


class TimeoutExceededError(JustesseError):
    """No answer within the time-out."""


class NotSupportedError(JustesseError):
    """The service does not offer this."""


class InternalError(JustesseError):
    """The service failed; its log, searched by `request_id`, says why."""
