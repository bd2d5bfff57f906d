"""The language of queries, and the words as the search sees them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from text_analysis.language import detect_language
from text_analysis.tokens import Analyzer

LANGUAGES = ("fr", "en")
# Nothing but the statistical model tells its language.
_AMBIGUOUS = "stock"


def query_language(query: str, hint: str) -> str:
    """Returns the language of a query, "fr" or "en": what it looks like, or the hint in doubt."""
    first = hint if hint in LANGUAGES else LANGUAGES[0]
    return detect_language(query, (first, *(each for each in LANGUAGES if each != first)))


def terms_of(text: str, language: str) -> list[str]:
    """Returns the terms of a text in reading order: stemmed, without stop words and accents."""
    return _analyzer(language).terms(text)


def stands_in(words: Sequence[str], among: Sequence[str]) -> bool:
    """Whether these terms, one at least, follow each other in others."""
    length = len(words)
    return length > 0 and any(
        list(among[at : at + length]) == list(words) for at in range(len(among) - length + 1)
    )


def load_language_data() -> None:
    """Reads what the first query would else wait for."""
    for language in LANGUAGES:
        terms_of(_AMBIGUOUS, language)
        query_language(_AMBIGUOUS, language)


@cache
def _analyzer(language: str) -> Analyzer:
    return Analyzer(language)
