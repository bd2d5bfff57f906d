"""Between the ServiceError family and gRPC statuses, in both directions.

The table is resolved along the class's ancestors, so a subclass maps like its parent. Nothing but
ServiceErrors is shown to callers: any other exception becomes INTERNAL with a neutral text, and
its traceback goes to the log only.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType

import grpc
import grpc.aio
import structlog
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from chassis import errors
from chassis.errors import FieldViolation, InvalidArgument, ServiceError
from chassis.interception import CalledMethod, ServicerContext
from chassis.request_id import current_request_id, outgoing_metadata

ERROR_DOMAIN = "justesse.dev"

# Statuses travel as HTTP/2 headers, of which a peer accepts 8 KiB in all; the text is sent twice.
_MAX_TEXT_BYTES = 1024
_MAX_STATUS_BYTES = 2560

_CODES: dict[type[ServiceError], grpc.StatusCode] = {
    ServiceError: grpc.StatusCode.INTERNAL,
    errors.Internal: grpc.StatusCode.INTERNAL,
    errors.InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.FailedPrecondition: grpc.StatusCode.FAILED_PRECONDITION,
    errors.Aborted: grpc.StatusCode.ABORTED,
    errors.PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.Unimplemented: grpc.StatusCode.UNIMPLEMENTED,
    errors.DataLoss: grpc.StatusCode.DATA_LOSS,
    errors.DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
    errors.ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
}

_CLASSES: dict[grpc.StatusCode, type[ServiceError]] = {
    **{code: kind for kind, code in _CODES.items() if kind is not ServiceError},
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidArgument,
    # A call that the caller itself cancelled raises CancelledError instead.
    grpc.StatusCode.CANCELLED: errors.Unavailable,
    grpc.StatusCode.UNKNOWN: errors.Internal,
}

_log = structlog.get_logger("chassis.error_mapping")


def status_code_of(error: ServiceError) -> grpc.StatusCode:
    """Returns the status code of the nearest ancestor that has one."""
    return next(_CODES[kind] for kind in type(error).__mro__ if kind in _CODES)


def rich_status(error: ServiceError) -> status_pb2.Status:
    """Returns the status message with its details, small enough for the headers of a call."""
    retry_after_s = getattr(error, "retry_after_s", None)
    details: list[Message] = [
        error_details_pb2.ErrorInfo(reason=error.reason, domain=ERROR_DOMAIN),
    ]
    if retry_after_s is not None:
        pause = duration_pb2.Duration()
        pause.FromNanoseconds(round(retry_after_s * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=pause))
    status = status_pb2.Status(
        code=status_code_of(error).value[0],
        message=_shortened(error.message),
        details=[_packed(detail) for detail in details],
    )
    violations = getattr(error, "violations", ())
    if violations:
        _add_violations(status, violations)
    return status


def visible_error(error: Exception) -> ServiceError | None:
    """Returns what the caller may see of an exception, or None if that is nothing.

    A group counts as its first member when all its members are of one class of ServiceError.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, ExceptionGroup):
        members = list(_members(error))
        first = members[0]
        if isinstance(first, ServiceError) and {type(m) for m in members} == {type(first)}:
            return first
    return None


def errors_mapped(
    method: CalledMethod, context: ServicerContext
) -> AbstractAsyncContextManager[None]:
    """Server half: ends the call with the status that belongs to the exception."""
    return _MappedCall(method, context)


class _MappedCall:
    __slots__ = ("_context", "_method")

    def __init__(self, method: CalledMethod, context: ServicerContext) -> None:
        self._method = method
        self._context = context

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, grpc.aio.AbortError):
            return
        visible = visible_error(error)
        if visible is not None:
            status = rich_status(visible)
        else:
            _log.error("unexpected error", rpc_method=self._method.full_name, exc_info=error)
            status = _neutral_status(current_request_id())
        await _abort(self._context, status)


async def _abort(context: ServicerContext, status: status_pb2.Status) -> None:
    ended = rpc_status.to_status(status)
    # An abort replaces the trailing metadata, the request id among them.
    metadata = tuple(outgoing_metadata(ended.trailing_metadata))
    await context.abort(ended.code, ended.details, metadata)


def service_error_from(error: grpc.RpcError) -> ServiceError:
    """Client half: returns the ServiceError that the other side raised.

    Works on errors of synchronous and of asyncio calls, and on those of servers that add no
    details. Keeps the text, the reason, the field violations and the pause before a retry.
    """
    code = _code(error)
    text = _text(error) or code.name
    info, pause_s, violations = _details(error)
    kind = _CLASSES.get(code, errors.Internal)
    reason = info.reason
    try:
        return _built(kind, text, reason, pause_s, violations)
    except ValueError:  # a reason of somebody else's making
        return _built(kind, text, "", pause_s, violations)


def _built(
    kind: type[ServiceError],
    text: str,
    reason: str,
    pause_s: float | None,
    violations: tuple[FieldViolation, ...],
) -> ServiceError:
    if issubclass(kind, InvalidArgument):
        field = violations[0].field if violations else ""
        return kind(text, field=field, violations=violations, reason=reason)
    if issubclass(kind, (errors.Unavailable, errors.ResourceExhausted)):
        return kind(text, retry_after_s=pause_s, reason=reason)
    return kind(text, reason=reason)


def _code(error: grpc.RpcError) -> grpc.StatusCode:
    code = error.code() if callable(getattr(error, "code", None)) else None
    return code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


def _text(error: grpc.RpcError) -> str:
    details = error.details() if callable(getattr(error, "details", None)) else None
    return details or ""


def _details(
    error: grpc.RpcError,
) -> tuple[error_details_pb2.ErrorInfo, float | None, tuple[FieldViolation, ...]]:
    info = error_details_pb2.ErrorInfo()
    retry = error_details_pb2.RetryInfo()
    bad = error_details_pb2.BadRequest()
    pause_s: float | None = None
    try:
        status = rpc_status.from_call(error)  # type: ignore[arg-type] # it asks for code, details and metadata
        for detail in status.details if status is not None else ():
            detail.Unpack(info)
            detail.Unpack(bad)
            if detail.Unpack(retry):
                pause_s = retry.retry_delay.ToNanoseconds() / 1e9
    except (ValueError, DecodeError, AttributeError):
        # Details that contradict the status, or of no known shape: the status itself still counts.
        return error_details_pb2.ErrorInfo(), None, ()
    violations = tuple(FieldViolation(v.field, v.description) for v in bad.field_violations)
    return info, pause_s, violations


def _neutral_status(request_id: str) -> status_pb2.Status:
    text = f"internal error (request id {request_id})" if request_id else "internal error"
    details = [
        error_details_pb2.ErrorInfo(reason=ServiceError.default_reason, domain=ERROR_DOMAIN),
        error_details_pb2.RequestInfo(request_id=request_id),
    ]
    return status_pb2.Status(
        code=grpc.StatusCode.INTERNAL.value[0],
        message=text,
        details=[_packed(detail) for detail in details],
    )


def _add_violations(status: status_pb2.Status, violations: tuple[FieldViolation, ...]) -> None:
    bad = error_details_pb2.BadRequest()
    room = _MAX_STATUS_BYTES - status.ByteSize()
    for violation in violations:
        bad.field_violations.add(
            field=_shortened(violation.field, 128),
            description=_shortened(violation.description, 512),
        )
        if bad.ByteSize() > room:
            del bad.field_violations[-1]
            break
    status.details.append(_packed(bad))


def _shortened(text: str, limit: int = _MAX_TEXT_BYTES) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode()
    return raw[: limit - 3].decode("utf-8", "ignore") + "…"


def _packed(detail: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


def _members(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    members: list[BaseException] = []
    for member in group.exceptions:
        members += _members(member) if isinstance(member, BaseExceptionGroup) else [member]
    return members
