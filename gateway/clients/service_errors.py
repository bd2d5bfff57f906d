"""Errors of a called service, in the gateway's own family."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from chassis.error_mapping import service_error_from
from chassis.errors import DeadlineExceeded, Internal, Unavailable
from chassis.signed_claims import CLAIM_REFUSED


@contextmanager
def errors_of(service: str) -> Iterator[None]:
    """Turns gRPC errors of calls to `service` into the `ServiceError` family.

    A service that cannot be reached or does not answer in time is named in plain words; what the
    transport said stays the cause. Errors a service wrote itself keep their text and reason.
    """
    try:
        yield
    except grpc.RpcError as error:
        translated = service_error_from(error)
        if isinstance(translated, Unavailable) and not _written_by_service(error):
            raise Unavailable(
                f"the {service} cannot be reached",
                reason=f"{service.upper().replace(' ', '_')}_UNREACHABLE",
            ) from error
        if isinstance(translated, DeadlineExceeded) and not _written_by_service(error):
            raise DeadlineExceeded(f"the {service} did not answer in time") from error
        if translated.reason == CLAIM_REFUSED:
            # No fault of the caller's, who may know nothing of claims.
            raise Internal(
                f"the {service} refuses the gateway: {translated.message}", reason=CLAIM_REFUSED
            ) from error
        raise translated from error


def _written_by_service(error: grpc.RpcError) -> bool:
    """Tells an error of the service, which has details, from one of the transport."""
    metadata = error.trailing_metadata() if isinstance(error, grpc.aio.AioRpcError) else None
    return any(key == "grpc-status-details-bin" for key, _ in metadata or ())
