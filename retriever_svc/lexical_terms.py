"""The terms that BM25 indexes of passages and looks for, the same for every engine."""

from collections.abc import Mapping
from functools import lru_cache

from retriever_svc.store.rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage
from text_analysis.language import detect_language
from text_analysis.tokens import Analyzer

PARTS = ("title", "keywords", "body")
"""Of a passage: title with headings, keywords, text."""
ALL_LANGUAGES = ("fr", "en")

# BM25 judges a field's length by the average over all passages. Filled up to an equal length, a
# title or keyword does not lose its weight because most documents have none.
_SHORT_LENGTH = 12
FILLER = "\x01"
"""Stands in short parts for terms that are not there; no text has it as a term."""


def languages_of(workspace: WorkspaceLanguage) -> tuple[str, ...]:
    """Returns the languages a query is analysed in, the likeliest first."""
    return ALL_LANGUAGES if workspace is WorkspaceLanguage.AUTO else (workspace.value,)


def query_terms(text: str, language: str) -> list[str]:
    """Returns the terms of a query, each once, in order."""
    return list(dict.fromkeys(analyzer(language).terms(text)))


@lru_cache
def analyzer(language: str) -> Analyzer:
    """Returns the analyzer of a language; all threads share it."""
    return Analyzer(language)


def language_of(entry: LexicalEntry, languages: tuple[str, ...]) -> str:
    """Returns the language that a passage is analysed in.

    Where the document does not tell its language and there is a choice, the text decides.
    """
    known = entry.language in languages
    return entry.language if known else detect_language(entry.text, languages)


def passage_terms(entry: LexicalEntry, language: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the terms of each part, title and keywords filled up with `FILLER`."""
    # A blank line between the pieces: no term reaches from one into the next.
    return {
        "title": _short_terms("\n\n".join((entry.title, *entry.heading_path)), language),
        "keywords": _short_terms("\n\n".join(entry.keywords), language),
        "body": tuple(analyzer(language).terms(entry.text)),
    }


# Passages of a document share title and keywords, often the headings too.
@lru_cache(1_000)
def _short_terms(text: str, language: str) -> tuple[str, ...]:
    terms = analyzer(language).terms(text)
    return (*terms, *(FILLER,) * (_SHORT_LENGTH - len(terms)))
