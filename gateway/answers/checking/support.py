"""Whether a sentence stands in the sources that it cites."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cachetools import TTLCache, cached

from gateway.answers.checking.facts import (
    REMEMBERED_S,
    TextFacts,
    facts_of,
    names_of,
    number_readings,
    plain_word,
)
from gateway.context.formats import NumberedSource
from text_analysis.language import detect_language

LEAST_WORD_SHARE = 0.5
"""Of the terms of a sentence, those that must stand in its sources; a paraphrase keeps half."""
_FEWEST_TERMS = 4
"""A sentence of fewer terms says too little for a share of them to mean anything."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What a sentence says that its sources do not: numbers, names and codes as it writes them."""

    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    word_share: float | None = None

    @property
    def nothing(self) -> bool:
        """Everything stands in the sources."""
        return not (self.numbers or self.names) and (
            self.word_share is None or self.word_share >= LEAST_WORD_SHARE
        )


def missing_from(sentence: str, sources: Collection[NumberedSource], question: str) -> Missing:
    """Returns what of a sentence stands neither in its sources nor in the question.

    Words are compared where sentence and sources are in one language: a translation shares none.
    """
    texts = [_text_of(source) for source in sources]
    known = [*map(_facts, texts), _facts(question)]
    numbers = {number for facts in known for number in facts.numbers}
    words = {word for facts in known for word in facts.words}
    return Missing(
        tuple(
            str(min(readings)) for readings in number_readings(sentence) if not readings & numbers
        ),
        tuple(name for name in names_of(sentence) if not _is_known(name, words, texts)),
        _word_share(sentence, texts, known),
    )


def _text_of(source: NumberedSource) -> str:
    headings = " ".join(source.source.heading_path)
    return f"{source.source.title}\n{headings}\n{source.source.text}"


def _facts(text: str) -> TextFacts:
    return facts_of(text, _language_of(text))


def _is_known(name: str, words: Collection[str], texts: Collection[str]) -> bool:
    bare = name.removesuffix("'s").removesuffix("’s")
    return bare in words or any(bare in plain_word(text) for text in texts)


def _word_share(
    sentence: str, texts: Collection[str], known: Collection[TextFacts]
) -> float | None:
    language = _language_of(sentence)
    if not texts or all(_language_of(text) != language for text in texts):
        return None
    # Numbers are compared as numbers.
    terms = {term for term in facts_of(sentence, language).terms if term.isalpha()}
    if len(terms) < _FEWEST_TERMS:
        return None
    held = {term for facts in known for term in facts.terms}
    return len(terms & held) / len(terms)


@cached(TTLCache(512, REMEMBERED_S))
def _language_of(text: str) -> str:
    # While an answer is written, its first sentences are looked at again with each that follows.
    return detect_language(text)
