"""Bounds on bodies, before anything is parsed."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from chassis.errors import InvalidArgument, ResourceExhausted
from gateway.pace import Pace, PacedWait
from gateway.uploads import MAX_FILE_BYTES

MAX_JSON_BYTES = 1024 * 1024
GLOSSARY_BODY_BYTES = 16 * 1024 * 1024
"""A glossary of the largest size, as large as over gRPC."""

UPLOAD_BODY_BYTES = MAX_FILE_BYTES + 1024 * 1024
"""A file of the largest size with the form around it."""

ARCHIVE_BODY_BYTES = 2**40
"""An archive of a workspace, which is never held as a whole."""

JOB_BODY_BYTES = 1024 * 1024 * 1024
"""All files of one job with the form around them."""


def check_announced_length(headers: Headers, max_bytes: int) -> None:
    """Refuses a body by its Content-Length alone; ResourceExhausted says the limit."""
    announced = headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()):
        raise InvalidArgument(f"Content-Length is no number: {announced[:40]!r}")
    # A longer number of digits is too large whatever they are.
    if len(announced) > 18 or int(announced) > max_bytes:
        raise _too_large(max_bytes)


async def read_whole(receive: Receive, max_bytes: int) -> Receive:
    """Reads the body and returns what hands it out again; ResourceExhausted says the limit."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return _replayed(message, receive)
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body", False):
            return _replayed(
                {"type": "http.request", "body": bytes(body), "more_body": False}, receive
            )


def counted(receive: Receive, max_bytes: int, pace: Pace) -> Receive:
    """Returns a `receive` for a body that is read as it comes.

    It raises ResourceExhausted once the body passes the limit, DeadlineExceeded where it comes too
    slowly.
    """
    length = 0
    whole = False
    wait = PacedWait(pace)

    async def receive_counted() -> Message:
        nonlocal length, whole
        if whole:  # whoever reads on waits for the caller to leave
            return await receive()
        message = await wait.part(receive(), _byte_count)
        whole = not message.get("more_body", False)
        length += _byte_count(message)
        if length > max_bytes:
            raise _too_large(max_bytes)
        return message

    return receive_counted


def _byte_count(message: Message) -> int:
    return len(message.get("body", b""))


def _replayed(first: Message, receive: Receive) -> Receive:
    pending = [first]

    async def receive_replayed() -> Message:
        return pending.pop() if pending else await receive()

    return receive_replayed


def _too_large(max_bytes: int) -> ResourceExhausted:
    return ResourceExhausted(
        f"the body is over {max_bytes} bytes; send less at once", reason="BODY_TOO_LARGE"
    )
