"""The terms on which a call is sent: where to, for how long, and under which id."""

import re
from dataclasses import dataclass
from uuid import uuid4

from justesse.client.destination import Destination
from justesse.client.errors import TimeoutExceededError

REQUEST_ID_KEY = "x-request-id"
AUTHORIZATION_KEY = "authorization"
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class CallTerms:
    """Terms that have been checked."""

    destination: Destination
    timeout: float | None
    """Seconds; None waits for ever."""
    request_id: str

    @property
    def address(self) -> str:
        """Where the call goes."""
        return self.destination.address

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What is sent along with the request."""
        carried = ((REQUEST_ID_KEY, self.request_id),)
        key = self.destination.api_key
        return (*carried, (AUTHORIZATION_KEY, f"Bearer {key}")) if key else carried


def agreed_terms(
    destination: Destination, timeout: float | None, request_id: str | None
) -> CallTerms:
    """Returns the terms, with a fresh id where the caller names none.

    Raises ValueError for an id that the services would replace by their own, and
    TimeoutExceededError where no time is left: gRPC would take 0 for no limit.
    """
    if request_id is None:
        request_id = uuid4().hex
    elif not _ACCEPTED_ID.fullmatch(request_id):
        raise ValueError(
            f"request_id: {request_id!r} must be 1 to 64 letters, digits, '.', '-' or '_'"
        )
    if timeout is not None and timeout <= 0:
        raise TimeoutExceededError(
            f"no time is left for the call ({timeout:g} s)",
            status="DEADLINE_EXCEEDED",
            request_id=request_id,
        )
    return CallTerms(destination, timeout, request_id)
