"""How a failed call becomes the error that a caller sees.

The google.rpc details are read here and not by way of chassis: a caller's process needs neither its
logging nor its settings, and sees no error family but the client's.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from justesse.client.call_terms import CallTerms
from justesse.client.connection_failures import cause_of
from justesse.client.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    FieldViolation,
    InternalError,
    InvalidRequestError,
    JustesseError,
    NotFoundError,
    NotSupportedError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TimeoutExceededError,
    UnauthenticatedError,
    UnavailableError,
)

DETAILS_KEY = "grpc-status-details-bin"

_ERRORS: dict[grpc.StatusCode, type[JustesseError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExistsError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.ABORTED: FailedPreconditionError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    # Whoever cancels its own call sees no error of this kind.
    grpc.StatusCode.CANCELLED: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: TimeoutExceededError,
    grpc.StatusCode.UNIMPLEMENTED: NotSupportedError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.UNKNOWN: InternalError,
    grpc.StatusCode.DATA_LOSS: InternalError,
}


class FailedCall(Protocol):
    """What the errors of the synchronous and the asyncio API have in common."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


DetailT = TypeVar("DetailT", bound=Message)


def error_from(failed: FailedCall, terms: CallTerms) -> JustesseError:
    """Turns a failed call into the error a caller sees; the caller raises it."""
    details = _details_of(failed)
    info = next(_unpacked(details, error_details_pb2.ErrorInfo), None)
    retry = next(_unpacked(details, error_details_pb2.RetryInfo), None)
    request = next(_unpacked(details, error_details_pb2.BadRequest), None)
    violations = request.field_violations if request else ()
    words = failed.details() if info else _own_words(failed, terms)
    return _ERRORS.get(failed.code(), JustesseError)(
        words or failed.code().name,
        status=failed.code().name,
        reason=info.reason if info else "",
        request_id=terms.request_id,
        violations=tuple(FieldViolation(each.field, each.description) for each in violations),
        retry_after_s=retry.retry_delay.ToTimedelta().total_seconds() if retry else None,
    )


def _own_words(failed: FailedCall, terms: CallTerms) -> str | None:
    """Says what a failure means that no service has explained: it arose on the way."""
    if failed.code() is grpc.StatusCode.UNAVAILABLE:
        cause = cause_of(failed.details())
        return f"no service can be reached at {terms.address}" + (f" ({cause})" if cause else "")
    if failed.code() is grpc.StatusCode.CANCELLED and failed.details() in (None, "", "CANCELLED"):
        return f"{terms.address} gave up the call without a word: too many may come at once"
    if failed.code() is grpc.StatusCode.DEADLINE_EXCEEDED and terms.timeout is not None:
        return f"no answer from {terms.address} within {terms.timeout:g} s"
    return failed.details()


def _details_of(failed: FailedCall) -> status_pb2.Status:
    """Reads the google.rpc details that came with a failure; none where there are none."""
    for key, value in failed.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                # The status itself is still worth reporting.
                break
    return status_pb2.Status()


def _unpacked(status: status_pb2.Status, kind: type[DetailT]) -> Iterator[DetailT]:
    for detail in status.details:
        message = kind()
        if detail.Unpack(message):
            yield message
