"""Marks the terms of a question in the texts of hits."""

from dataclasses import replace

from retriever_svc.searches import SearchRequest, SearchResult, TextSpan
from text_analysis.highlights import Highlighter
from text_analysis.language import detect_language


def highlighted(result: SearchResult, request: SearchRequest) -> SearchResult:
    """Returns the result with highlights on every hit: terms of any wording, in its language."""
    highlighter = Highlighter([variant.text for variant in request.variants])
    hits = []
    for hit in result.hits:
        text, own = hit.passage.text, hit.document.language
        # As when the passage was indexed: the document says its language, or the text does.
        language = own if own in result.languages else detect_language(text, result.languages)
        spans = highlighter.spans(text, language)
        hits.append(hit._replace(highlights=tuple(TextSpan(*span) for span in spans)))
    return replace(result, hits=tuple(hits))
