"""How long an HTTP request may take."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.deadline import narrowed_deadline
from chassis.errors import DeadlineExceeded, InvalidArgument

TIMEOUT_HEADER = "X-Request-Timeout-Ms"
LONGEST_TIMEOUT_MS = 600_000

_DIGITS = re.compile(r"[0-9]{1,9}")


def stated_timeout_s(header: str | None) -> float | None:
    """Reads the header X-Request-Timeout-Ms; InvalidArgument outside 1 to 600,000."""
    if header is None:
        return None
    if _DIGITS.fullmatch(header.strip()) and 1 <= int(header) <= LONGEST_TIMEOUT_MS:
        return int(header) / 1e3
    raise InvalidArgument(
        f"{TIMEOUT_HEADER} must be a whole number from 1 to {LONGEST_TIMEOUT_MS}, "
        f"not {header[:40]!r}",
        field=TIMEOUT_HEADER,
    )


@asynccontextmanager
async def within(seconds: float | None) -> AsyncIterator[None]:
    """Bounds what happens inside, and passes the deadline on to every call made there.

    None sets no bound. Raises DeadlineExceeded when the time is over.
    """
    if seconds is None:
        yield
        return
    limit = asyncio.timeout(seconds)
    try:
        with narrowed_deadline(seconds):
            async with limit:
                yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineExceeded(f"not done within {seconds * 1e3:.0f} ms") from error
