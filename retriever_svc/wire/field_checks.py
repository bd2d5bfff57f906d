"""Checks of single fields; each raises InvalidArgument naming the field and what it must be."""

import math

from chassis.errors import InvalidArgument


def checked_text(value: str, field: str, *, max_bytes: int) -> str:
    """Returns a text that is not blank and not too long in UTF-8."""
    if not value.strip():
        raise InvalidArgument(f"{field} is blank; give a text", field=field)
    size = len(value.encode())
    if size > max_bytes:
        raise InvalidArgument(
            f"{field} has {size} bytes; at most {max_bytes} are taken", field=field
        )
    return value


def checked_count(value: int, field: str, *, low: int, high: int) -> int:
    """Returns a whole number from `low` to `high`."""
    if not low <= value <= high:
        raise InvalidArgument(f"{field} is {value}; expected {low} to {high}", field=field)
    return value


def checked_weight(value: float, field: str) -> float:
    """Returns a finite number of at least 0."""
    if not (math.isfinite(value) and value >= 0):
        raise InvalidArgument(f"{field} is {value}; expected a number of at least 0", field=field)
    return value


def checked_length(value: str, field: str, *, max_length: int) -> str:
    """Returns a text of at most so many characters."""
    if len(value) > max_length:
        raise InvalidArgument(
            f"{field} has {len(value)} characters; at most {max_length} are taken", field=field
        )
    return value
