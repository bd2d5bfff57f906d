"""How large a request may be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds of a request; question bytes are counted in UTF-8."""

    question_bytes: int = 8 * 1024
    candidates: int = 200
