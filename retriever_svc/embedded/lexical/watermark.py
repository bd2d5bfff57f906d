"""The note beside a BM25 index that says what it holds.

It is written after the index has been committed, so the index may be ahead of its note, never
behind: applying the changes after the noted number once more does no harm.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from retriever_svc.embedded.snapshots.durable_files import replacing


@dataclass(frozen=True, slots=True)
class Watermark:
    """Says of which store, workspace and layout an index is, where it lies, up to which change."""

    store_identity: str
    workspace_id: int
    layout: str
    seq: int
    opstamp: int
    """Tantivy's own count of operations at that moment."""
    folder: str
    """Name of the folder that holds the index."""


def read_watermark(path: Path) -> Watermark | None:
    """Reads the note; None where there is none or it cannot be understood."""
    try:
        return Watermark(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_watermark(path: Path, watermark: Watermark, *, synced: bool = False) -> None:
    """Replaces the note in one step; it has reached the disk if `synced`."""
    content = orjson.dumps(asdict(watermark))
    if synced:
        with replacing(path) as file:
            file.write(content)
        return
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)
