"""How large a request may be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds of a request; bytes are counted in UTF-8, history bytes over all turns."""

    query_bytes: int = 8 * 1024
    history_turns: int = 20
    history_bytes: int = 32 * 1024
