"""Bounds of exports and imports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransferLimits:
    """How much moves at a time."""

    exports_at_once: int = 2
    imports_at_once: int = 2
    idle_s: float = 120.0
    """Seconds after which a caller that takes, or sends, nothing is let go."""
    changes_at_once: int = 1
    """Documents of an import that wait for the disk together, from 1.

    More than one only where the engine makes changes in the order in which they are asked for.
    """
    waiting_bytes: int = 32 * 2**20
    """Bytes of records whose documents wait for the disk, one document in any case."""
