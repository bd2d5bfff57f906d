"""Whether an answer is in the language of its question."""

from __future__ import annotations

import re

from gateway.context.formats import ContextLanguage
from text_analysis.language import detect_language

ENOUGH_LETTERS = 60
"""Of shorter texts, the language is a guess."""

_ANSWERED = tuple(language.value for language in ContextLanguage)
_LANGUAGES = ("fr", "en", "de", "es", "it", "pt", "nl")
_LETTER = re.compile(r"[^\W\d_]")
# Titles of documents, addresses and code are in the language they are in.
_NO_PROSE = re.compile(r"\[[^\[\]]*\]|`[^`]*`|https?://\S+")


def language_of(question: str, usual: str) -> ContextLanguage:
    """Returns the question's language; in doubt the workspace's `usual` one, else French."""
    first = usual if usual in _ANSWERED else _ANSWERED[0]
    among = (first, *(each for each in _ANSWERED if each != first))
    return ContextLanguage(detect_language(question, among))


def has_enough_letters(text: str) -> bool:
    """Whether the language of a text can be told."""
    return sum(1 for _ in _LETTER.finditer(_NO_PROSE.sub(" ", text))) >= ENOUGH_LETTERS


def is_in_other_language(text: str, expected: str) -> bool:
    """Whether a text is surely in another language than `expected` (ISO 639-1)."""
    prose = _NO_PROSE.sub(" ", text)
    if not has_enough_letters(prose):
        return False
    among = (expected, *(each for each in _LANGUAGES if each != expected))
    return detect_language(prose, among) != expected


def load_language_data() -> None:
    """Reads what languages are told by, which takes a while the first time."""
    is_in_other_language(
        "Les données de langue se chargent ici, une fois pour toutes, au début.", "en"
    )
