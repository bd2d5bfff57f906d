"""Cuts a passage into windows: short texts that are embedded beside the whole.

A question about one sentence is nearer to that sentence than to a passage of forty.
"""

from __future__ import annotations

from gateway.ingestion.chunking.embedded_text import embedded_text
from text_analysis.sentences import sentence_spans

_SENTENCES = 2


def windows_of(text: str, title: str) -> tuple[str, ...]:
    """Returns the texts to embed: two sentences each, with the title above, in order.

    Every sentence is in one window; the last may hold one alone. A passage of at most two sentences
    is its own window, so it has none.
    """
    spans = sentence_spans(text)
    if len(spans) <= _SENTENCES:
        return ()
    starts = range(0, len(spans), _SENTENCES)
    ends = (spans[min(at + _SENTENCES, len(spans)) - 1][1] for at in starts)
    headings = (title,) if title else ()
    return tuple(
        embedded_text(headings, text[spans[at][0] : end])
        for at, end in zip(starts, ends, strict=True)
    )
