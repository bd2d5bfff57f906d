"""Errors of tasks: noted as data, raised again for those who wait, and judged by their kind."""

from __future__ import annotations

from chassis import errors
from chassis.error_mapping import status_code_of
from chassis.errors import InvalidArgument, ResourceExhausted, ServiceError
from gateway.jobs.job import TaskFailure

_KINDS: tuple[type[ServiceError], ...] = (
    errors.InvalidArgument,
    errors.NotFound,
    errors.AlreadyExists,
    errors.FailedPrecondition,
    errors.Aborted,
    errors.PermissionDenied,
    errors.Unauthenticated,
    errors.Unimplemented,
    errors.DataLoss,
    errors.DeadlineExceeded,
    errors.Internal,
    errors.Unavailable,
    errors.ResourceExhausted,
)
_BY_STATUS = {status_code_of(kind("")).name: kind for kind in _KINDS}
_PASSING = (errors.Unavailable, errors.Aborted, errors.DeadlineExceeded)


def failure_of(error: ServiceError) -> TaskFailure:
    """Notes an error."""
    field = error.field if isinstance(error, InvalidArgument) else ""
    return TaskFailure(status_code_of(error).name, error.reason, error.message, field)


def error_of(failure: TaskFailure) -> ServiceError:
    """Returns a noted error as it was raised."""
    kind = _BY_STATUS.get(failure.status, errors.Internal)
    if kind is InvalidArgument:
        return InvalidArgument(failure.message, field=failure.field, reason=failure.reason)
    return kind(failure.message, reason=failure.reason)


def passes(error: ServiceError) -> bool:
    """Tells whether another attempt may succeed although nobody does anything about it."""
    if isinstance(error, ResourceExhausted):
        return error.retry_after_s is not None
    return isinstance(error, _PASSING)
