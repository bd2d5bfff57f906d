"""Why a snapshot is not used."""

from enum import StrEnum


class RejectionReason(StrEnum):
    """The reasons, as the metric names them."""

    MANIFEST = "manifest"
    """The manifest is missing, unreadable, altered, or of another layout."""
    FOREIGN = "foreign"
    """It belongs to another store, workspace or space."""
    NEWER = "newer"
    """It shows changes that the store does not have: the store is an older backup."""
    SETTINGS = "settings"
    """Its graph was built with other settings."""
    SIZE = "size"
    """It holds more rows than are allowed."""
    CHECKSUM = "checksum"
    """A file is missing, or its bytes are not those that were written."""
    UNREADABLE = "unreadable"
    """FAISS cannot make a graph of it, or not one of that shape."""


class SnapshotRejected(Exception):  # noqa: N818 - no error: the graph is built instead
    """Says that a snapshot must not be used."""

    def __init__(self, reason: RejectionReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
