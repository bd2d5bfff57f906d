"""The part of a passage that answers a question best, of the length there is room for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from text_analysis.sentences import sentence_spans
from text_analysis.tokens import LANGUAGES, Analyzer

_LINE = re.compile(r"[^\n]+")
_USUAL_LANGUAGE = LANGUAGES[0]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a text."""

    text: str
    begins: bool
    """It begins where the text begins."""


def best_excerpt(text: str, questions: Sequence[str], language: str, length: int) -> Excerpt:
    """Returns the text from the sentence or line on, from which `length` characters say most.

    What counts is how many different words of the questions they hold, in any inflection of the
    language ("fr" where it is no other known one), words that are rare in the text counting more.
    Where the beginning of the text says as much, or nothing does, it is the whole text.
    """
    starts, words = _unit_starts(text), _matches(text, questions, language)
    if not words or len(text) <= length:
        return Excerpt(text, begins=True)
    weights = {term: 1 / len(places) for term, places in words.items()}

    def value(start: int) -> float:
        end = start + length
        return sum(
            1 + weights[term]
            for term, places in words.items()
            if any(start <= place[0] and place[1] <= end for place in places)
        )

    values = {start: value(start) for start in starts}
    best = [start for start, worth in values.items() if worth == max(values.values())]
    # The last of them begins with the first word that counts; it must not leave room unused.
    full = [start for start in best if len(text) - start >= length]
    start = 0 if best[0] == 0 else max(full, default=best[0])
    return Excerpt(text[start:], begins=start == 0)


def _unit_starts(text: str) -> list[int]:
    """Lists where sentences and lines begin, 0 first."""
    starts = {0, *(start for start, _ in sentence_spans(text))}
    starts |= {match.start() for match in _LINE.finditer(text) if match.group().strip()}
    return sorted(starts)


def _matches(
    text: str, questions: Sequence[str], language: str
) -> dict[str, list[tuple[int, int]]]:
    """Returns, by term of the questions that occurs in the text, where it does."""
    analyzer = _analyzer(language if language in LANGUAGES else _USUAL_LANGUAGE)
    wanted = {term for question in questions for term in analyzer.terms(question)}
    places: dict[str, list[tuple[int, int]]] = {}
    for token in analyzer.analyze(text):
        if token.term in wanted:
            places.setdefault(token.term, []).append((token.start, token.end))
    return places


@cache
def _analyzer(language: str) -> Analyzer:
    return Analyzer(language)
