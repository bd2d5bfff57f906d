"""How failed calls become the errors a caller sees."""

import pickle

import grpc
import grpc.aio
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from chassis.error_mapping import rich_status
from chassis.errors import FieldViolation as ServedViolation
from chassis.errors import InvalidArgument, ResourceExhausted, ServiceError
from justesse.client import (
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
from justesse.client.call_terms import CallTerms
from justesse.client.destination import Destination
from justesse.client.failed_calls import DETAILS_KEY, error_from

TERMS = CallTerms(Destination("host:1"), timeout=5, request_id="r1")
CLASSES: dict[grpc.StatusCode, type[JustesseError]] = {
    grpc.StatusCode.ABORTED: FailedPreconditionError,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExistsError,
    grpc.StatusCode.CANCELLED: UnavailableError,
    grpc.StatusCode.DATA_LOSS: InternalError,
    grpc.StatusCode.DEADLINE_EXCEEDED: TimeoutExceededError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.UNIMPLEMENTED: NotSupportedError,
    grpc.StatusCode.UNKNOWN: InternalError,
}


def failed_call(
    code: grpc.StatusCode, details: str | None = "", status: bytes | None = None
) -> grpc.aio.AioRpcError:
    """A failure as gRPC raises it, with the given google.rpc.Status if any."""
    trailing = grpc.aio.Metadata(("other", "text"))
    if status is not None:
        trailing.add(DETAILS_KEY, status)
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details)


def served(error: ServiceError) -> JustesseError:
    """The client's error for one that a service raised."""
    status: status_pb2.Status = rich_status(error)
    code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
    failed = failed_call(code, status.message, status.SerializeToString())
    return error_from(failed, TERMS)


def unexplained(code: grpc.StatusCode, details: str | None = "", timeout: float | None = 5) -> str:
    """The text for a failure that came without details."""
    failed = failed_call(code, details)
    return str(error_from(failed, CallTerms(Destination("host:1"), timeout, "r1")))


@pytest.mark.parametrize(
    "code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]
)
def test_every_status_has_its_class(code: grpc.StatusCode) -> None:
    """A caller can tell by class what to do about any status, and reads its name."""
    error = error_from(failed_call(code), TERMS)
    assert type(error) is CLASSES[code]
    assert error.status == code.name
    assert error.request_id == "r1"
    assert str(error)


def test_reason_and_violations_are_kept() -> None:
    """What a service says about a wrong request reaches the caller in full."""
    error = served(
        InvalidArgument(
            "limit: must lie in 1 to 100",
            violations=[ServedViolation("limit", "is 0"), ServedViolation("query", "is blank")],
            reason="OUT_OF_BOUNDS",
        )
    )
    assert isinstance(error, InvalidRequestError)
    assert error.message == str(error) == "limit: must lie in 1 to 100"
    assert error.reason == "OUT_OF_BOUNDS"
    assert error.violations == (
        FieldViolation("limit", "is 0"),
        FieldViolation("query", "is blank"),
    )
    assert error.retry_after_s is None


def test_pause_before_a_retry_is_kept() -> None:
    """A used-up quota says when to come back, to the millisecond."""
    error = served(ResourceExhausted("the daily quota is used up", retry_after_s=1.25))
    assert isinstance(error, ResourceExhaustedError)
    assert error.retry_after_s == 1.25


def test_unreachable_address_is_named() -> None:
    """A failure to connect names the address, which gRPC's text may not."""
    text = unexplained(grpc.StatusCode.UNAVAILABLE, "connection refused")
    assert text == "no service can be reached at host:1 (nothing listens there)"


def test_a_call_that_the_server_gave_up_is_explained() -> None:
    """What gRPC drops in a flood comes back without words of its own."""
    text = unexplained(grpc.StatusCode.CANCELLED, "CANCELLED")
    assert "gave up the call without a word: too many may come at once" in text


def test_time_out_is_named() -> None:
    """A time-out says how long was waited; one that the service reports keeps its text."""
    assert unexplained(grpc.StatusCode.DEADLINE_EXCEEDED) == "no answer from host:1 within 5 s"
    assert unexplained(grpc.StatusCode.DEADLINE_EXCEEDED, "too slow", None) == "too slow"


def test_failure_without_text_names_its_status() -> None:
    """No error has an empty text."""
    assert unexplained(grpc.StatusCode.INTERNAL, None) == "INTERNAL"


def test_torn_details_do_not_hide_the_failure() -> None:
    """Details that cannot be decoded cost the reason, not the status."""
    failed = failed_call(grpc.StatusCode.NOT_FOUND, "no such workspace", b"\xff\xff\xff")
    error = error_from(failed, TERMS)
    assert isinstance(error, NotFoundError)
    assert (str(error), error.reason) == ("no such workspace", "")


def test_details_of_unknown_kind_are_passed_over() -> None:
    """Details that this client does not know do not disturb those it knows."""
    status = status_pb2.Status(code=3, message="bad")
    status.details.add().Pack(Duration(seconds=1))
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="KNOWN"))
    failed = failed_call(grpc.StatusCode.INVALID_ARGUMENT, "bad", status.SerializeToString())
    error = error_from(failed, TERMS)
    assert error.reason == "KNOWN"


def test_errors_survive_pickling() -> None:
    """An error passes between processes with all that it says."""
    error = served(ResourceExhausted("full", retry_after_s=2, reason="QUOTA"))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ResourceExhaustedError
    assert vars(copy) == vars(error)
    assert str(copy) == "full"
