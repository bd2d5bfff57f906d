"""Reads the Retry-After header of HTTP: seconds, or a date."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from chassis import clock as clocks
from chassis.clock import Clock


def retry_after_s(headers: Mapping[str, str], now: Clock = clocks.wall) -> float | None:
    """Returns the pause asked for, in seconds, 0 or more; None if there is none to be obeyed.

    Header names are expected in lower case. A negative or unreadable value counts as absent; a
    date that has passed means now. `retry-after-ms`, which some vendors send, is the finer one.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1e3
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    return seconds if seconds is not None else _until_date(value, now)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until_date(value: str, now: Clock) -> float | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, IndexError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now())
