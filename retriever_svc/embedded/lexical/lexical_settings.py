"""Settings of the BM25 index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """Holds field weights and limits of the BM25 index."""

    title_boost: float = 2.0
    """Weight of a match in the document's title or a heading above the passage."""
    keywords_boost: float = 1.5
    body_boost: float = 1.0
    writer_heap_bytes: int = 32_000_000
    """Memory that gathers entries before a segment is written; at least 15,000,000."""
    open_writer_limit: int = 8
    """Workspaces whose writer stays open between commits."""
    dead_share_limit: float = 0.3
    """Share of deleted entries at which the index is built anew, so that statistics follow."""
