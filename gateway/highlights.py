"""Marks the terms of a question in the texts of hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateway.questions import Hit, TextSpan
from text_analysis.highlights import Highlighter
from text_analysis.language import detect_language
from text_analysis.tokens import LANGUAGES


def highlighted(
    hits: Sequence[Hit], wordings: Sequence[str], workspace_language: str
) -> tuple[Hit, ...]:
    """Returns the hits with the spans of terms of any wording.

    Each text is analysed as the retriever indexed it: in the workspace's language; where that is
    empty, in the document's own, which the text tells if the document does not.
    """
    languages = (workspace_language,) if workspace_language in LANGUAGES else LANGUAGES
    highlighter = Highlighter(wordings)
    marked = []
    for hit in hits:
        text, own = hit.fused.passage.text, hit.fused.document.language
        language = own if own in languages else detect_language(text, languages)
        spans = highlighter.spans(text, language)
        marked.append(replace(hit, highlights=tuple(TextSpan(*span) for span in spans)))
    return tuple(marked)
