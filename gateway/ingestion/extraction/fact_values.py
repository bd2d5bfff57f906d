"""Values that files state about themselves, read from text."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TRUE = frozenset({"true", "yes", "oui"})
_FALSE = frozenset({"", "false", "no", "non"})


def moment_from(text: str) -> datetime | None:
    """Reads an ISO 8601 date or time; without a zone it is UTC. None where it is neither."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def truth_from(text: str) -> bool | None:
    """Reads a truth value in French or English; nothing is false. None where it is neither."""
    lowered = text.strip().lower()
    return lowered in _TRUE if lowered in _TRUE | _FALSE else None


def keywords_from(text: str) -> tuple[str, ...]:
    """Reads keywords divided by commas or semicolons."""
    words = (" ".join(word.split()) for word in re.split(r"[,;]", text))
    return tuple(word for word in words if word)
