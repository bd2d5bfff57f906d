"""Metadata as written on a command line: `name=value`, typed by its look."""

from collections.abc import Iterable
from datetime import UTC, datetime

from justesse.client import MetadataValue

RULES = (
    "true and false are truth values; 12 and 3.5 are numbers; 2024-05-01 and "
    '2024-05-01T12:00:00+02:00 are moments (UTC if no zone is given); all else, and "anything in '
    'double quotes", is text'
)

MOMENTS = "2024-05-01 or 2024-05-01T12:00:00+02:00; UTC if no zone is given."


def metadata_from_pairs(pairs: Iterable[str]) -> dict[str, MetadataValue]:
    """Reads pairs by `RULES`; ValueError for one without a name or a sign, and for a second one."""
    metadata: dict[str, MetadataValue] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        name = name.strip()
        if not sign or not name:
            raise ValueError(f"{pair!r} is not NAME=VALUE")
        if name in metadata:
            raise ValueError(f"{name} is given twice")
        metadata[name] = value_from(text.strip())
    return metadata


def value_from(text: str) -> MetadataValue:
    """Reads one value by `RULES`."""
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    number = _number_in(text)
    if number is not None:
        return number
    moment = moment_in(text)
    return text if moment is None else moment


def _number_in(text: str) -> float | None:
    digits = text.removeprefix("-")
    # What starts with a zero is a code: 007, 0033.
    if not digits[:1].isdecimal() or (digits[:2].isdecimal() and digits[0] == "0" and digits[1:]):
        return None
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def moment_in(text: str) -> datetime | None:
    """Reads a moment as `MOMENTS` says; None for another text."""
    if len(text) < len("2024-05-01") or text[4] != "-":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
