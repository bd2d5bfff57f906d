"""The manifest of a snapshot: what it belongs to, and the checksum of every file.

It is written last: files that no manifest names do not count. The first line of the file is the
SHA-256 of the rest.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from retriever_svc.embedded.snapshots.durable_files import replacing
from retriever_svc.embedded.snapshots.snapshot_rejection import RejectionReason, SnapshotRejected

LAYOUT = 1
_MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """Describes the file of one segment."""

    file: str
    row_count: int
    byte_count: int
    ids_sha256: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SnapshotManifest:
    """Describes a snapshot."""

    store_identity: str
    workspace_id: int
    space_key: int
    space_id: str
    dimension: int
    seq: int
    """Number of the last change of the workspace that may show in it."""
    graph: dict[str, int | str]
    """Settings that shape a graph."""
    segments: tuple[SegmentEntry, ...]
    layout: int = LAYOUT

    @property
    def row_count(self) -> int:
        """Rows of all segments."""
        return sum(entry.row_count for entry in self.segments)


def write_manifest(path: Path, manifest: SnapshotManifest) -> None:
    """Replaces the manifest in one step."""
    content = orjson.dumps(asdict(manifest))
    with replacing(path) as file:
        file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def read_manifest(path: Path) -> SnapshotManifest:
    """Reads and checks a manifest. Raises SnapshotRejected."""
    try:
        with path.open("rb") as file:
            digest, _, content = file.read(_MAX_BYTES).partition(b"\n")
    except OSError as error:
        raise SnapshotRejected(RejectionReason.MANIFEST, f"{path.name}: {error}") from error
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise SnapshotRejected(RejectionReason.MANIFEST, f"{path.name}: not as it was written")
    return _manifest_from(orjson.loads(content))


def _manifest_from(fields: dict[str, Any]) -> SnapshotManifest:
    layout = fields.get("layout")
    if layout != LAYOUT:
        raise SnapshotRejected(RejectionReason.MANIFEST, f"layout {layout}, not {LAYOUT}")
    entries = tuple(SegmentEntry(**entry) for entry in fields.pop("segments"))
    return SnapshotManifest(segments=entries, **fields)
