"""The note beside a BM25 index that says what it holds.

It is written after the index has been committed, so the index may be ahead of its note, never
behind: applying the changes after the noted number once more does no harm.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True, slots=True)
class Watermark:
    """Says of which store, workspace and layout an index is, and up to which change."""

    store_identity: str
    workspace_id: int
    layout: str
    seq: int
    opstamp: int
    """Tantivy's own count of operations at that moment."""


def read_watermark(path: Path) -> Watermark | None:
    """Reads the note; None where there is none or it cannot be understood."""
    try:
        return Watermark(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_watermark(path: Path, watermark: Watermark) -> None:
    """Replaces the note in one step."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(orjson.dumps(asdict(watermark)))
    os.replace(temporary, path)
