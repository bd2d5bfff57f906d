"""Hits to build contexts of."""

from __future__ import annotations

from gateway.documents import Document, Passage
from gateway.questions import Hit
from gateway.searching import FusedHit, HitContent


def hit(
    rank: int,
    text: str,
    *,
    document: str = "a.md",
    title: str = "Procédure retours v2",
    chunk_index: int = 0,
    heading_path: tuple[str, ...] = (),
    location: str = "",
    superseded: bool = False,
) -> Hit:
    """Returns a hit on a passage of a document."""
    content = HitContent(
        Passage(chunk_index, text, heading_path, location),
        Document(document, title, source_uri=f"https://kb.test/{document}", superseded=superseded),
    )
    fused = FusedHit(f"{document}-{chunk_index}", lambda: content, rank, 1 / (60 + rank))
    return Hit(rank, fused, ())
