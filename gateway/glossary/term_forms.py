"""Terms as the search sees them: stemmed, without case, accents and stop words."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from text_analysis.tokens import LANGUAGES, Analyzer

TermForm: TypeAlias = tuple[tuple[str, ...], ...]
"""The analysed words of a term, in each language of its workspace."""


def languages_of(workspace_language: str) -> tuple[str, ...]:
    """Returns the languages in which texts of a workspace are analysed; all where it has none."""
    return (workspace_language,) if workspace_language in LANGUAGES else LANGUAGES


def form_of(term: str, languages: tuple[str, ...]) -> TermForm:
    """Returns the form of a term; two terms of equal forms are one to every search."""
    return tuple(analysed(term, language) for language in languages)


def analysed(text: str, language: str) -> tuple[str, ...]:
    """Returns the analysed words of a text in reading order."""
    return tuple(_analyzer(language).terms(text))


@cache
def _analyzer(language: str) -> Analyzer:
    return Analyzer(language)
