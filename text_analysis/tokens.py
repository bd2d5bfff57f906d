"""Terms of French and English text for BM25: the same analysis for documents and queries.

Order: normalisation (NFKC, apostrophes, case), elision, stop words, Snowball stem, then accents
and ligatures folded, because stemming needs accents. Terms hold no blanks. Identifiers such as
`BL-2024-117` give one exact term and their parts; CJK runs give character bigrams.
"""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, starmap

import Stemmer

from text_analysis import stop_words
from text_analysis.normalisation import fold_accents, normalise, normalised_text
from text_analysis.words import Word, WordKind, kind_named, word_texts, words

ANALYZER_VERSION = 1
"""Grows whenever the same text gives other terms: an index of another version must be rebuilt."""

_APOSTROPHE = re.compile("'")
_HYPHEN = re.compile("-")
_BLANK = re.compile(" ")
_SIGNS = re.compile(r"[-._/@&,]")
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_GROUPED_BY_COMMAS = {
    "fr": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+|,\d{3})"),
    "en": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
}
_DIGIT = re.compile(r"\d")
_EXACT_SIGN = re.compile(r"[._@&]")

_FRENCH_ELISIONS = frozenset(
    {"l", "d", "j", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu"}
    | {"presqu", "entr"}
)
_ENGLISH_ENDINGS = frozenset({"s", "re", "ll", "ve", "m", "d"})
_TERM_CACHE_SIZE = 50_000
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Token:
    """Holds one term and the span `[start, end)` of the original text it stands for.

    Spans are never empty. Their starts never decrease from one token of a text to the next; an
    identifier and its parts overlap.
    """

    term: str
    start: int
    end: int


class Analyzer:
    """Turns text of one language, "fr" or "en", into terms. Safe to share between threads."""

    def __init__(self, language: str) -> None:
        """Raises ValueError for a language other than "fr" and "en"."""
        if language not in _LANGUAGES:
            raise ValueError(f"no analyzer for language {language!r}; use one of {LANGUAGES}")
        snowball, self._stop_words = _LANGUAGES[language]
        self.language = language
        self._stemmer = Stemmer.Stemmer(snowball, 0)
        self._stemming = threading.Lock()
        self._stemmed = lru_cache(_TERM_CACHE_SIZE)(self._stem)
        self._terms_known = lru_cache(_TERM_CACHE_SIZE)(self._terms_in)

    def analyze(self, text: str) -> list[Token]:
        """Returns the tokens of the text in reading order."""
        normalised = normalise(text)
        return [
            Token(term, *normalised.original_span(start, end))
            for word in words(normalised.text)
            for term, start, end in self._terms_of(word)
        ]

    def terms(self, text: str) -> list[str]:
        """Returns the terms of the text in reading order, repeated as often as they occur.

        They are those of `analyze`. What a word becomes depends on the word alone, so that known
        words cost a look-up.
        """
        found = starmap(self._terms_known, word_texts(normalised_text(text)))
        return list(chain.from_iterable(found))

    def _terms_in(self, kind_name: str, text: str) -> tuple[str, ...]:
        word = Word(kind_named(kind_name), text, 0, len(text))
        return tuple(term for term, _, _ in self._terms_of(word))

    def _terms_of(self, word: Word) -> Iterator[tuple[str, int, int]]:
        match word.kind:
            case WordKind.CJK:
                yield from _bigrams(word)
            case WordKind.NAME:
                yield word.text, word.start, word.end
            case WordKind.GROUPED:
                yield _number(word.text.replace(" ", "")), word.start, word.end
                for part in word.split(_BLANK):
                    yield _number(part.text), part.start, part.end
            case WordKind.COMPOUND:
                for segment in self._without_elisions(word):
                    yield from self._segment_terms(segment)

    def _without_elisions(self, word: Word) -> Iterator[Word]:
        if "'" not in word.text or word.text == "aujourd'hui":
            yield word
        elif self.language == "fr":
            yield from _french_segments(word)
        else:
            yield from _english_segments(word)

    def _segment_terms(self, segment: Word) -> Iterator[tuple[str, int, int]]:
        text = segment.text
        if text.isalnum() or "'" in text:
            yield from self._plain_terms(segment)
        elif _ACRONYM.fullmatch(text):
            yield fold_accents(text.replace(".", "")), segment.start, segment.end
        elif _GROUPED_BY_COMMAS[self.language].fullmatch(text):
            yield text.replace(",", ""), segment.start, segment.end
        elif _DECIMAL.fullmatch(text):
            yield _number(text), segment.start, segment.end
        else:
            if _DIGIT.search(text) or _EXACT_SIGN.search(text):
                yield fold_accents(text), segment.start, segment.end
            for part in segment.split(_SIGNS):
                yield from self._plain_terms(part)

    def _plain_terms(self, word: Word) -> Iterator[tuple[str, int, int]]:
        term = self._stemmed(word.text)
        if term:
            yield term, word.start, word.end

    def _stem(self, word: str) -> str:
        """Returns the term of a word without signs; empty for a stop word."""
        if word in self._stop_words:
            return ""
        if _DIGIT.search(word):
            return fold_accents(word)
        stem = self._stemmed_once(word)
        if self.language != "fr":
            return stem
        # French endings depend on accents: `livrées` becomes `livr`, but `livrees` only `livre`.
        # Stemming on until nothing changes makes the two fall together.
        for _ in range(_MOST_ROUNDS):
            shorter = self._stemmed_once(stem)
            if shorter == stem:
                break
            stem = shorter
        return stem

    def _stemmed_once(self, word: str) -> str:
        # One stemmer object must not be used by two threads at once.
        with self._stemming:
            stem: str = self._stemmer.stemWord(word)
        return fold_accents(stem)


_LANGUAGES = {
    "fr": ("french", stop_words.FRENCH),
    "en": ("english", stop_words.ENGLISH),
}

LANGUAGES = tuple(_LANGUAGES)
"""Languages that have an analyzer."""


def _bigrams(run: Word) -> Iterator[tuple[str, int, int]]:
    if len(run.text) == 1:
        yield run.text, run.start, run.end
    for at in range(len(run.text) - 1):
        yield run.text[at : at + 2], run.start + at, run.start + at + 2


def _number(text: str) -> str:
    return text.replace(",", ".")


def _french_segments(word: Word) -> Iterator[Word]:
    """Drops `l'`, `qu'`, `jusqu'` ... and a final `'s`; `n'` is the negation `ne`."""
    *heads, tail = word.split(_APOSTROPHE)
    for head in heads:
        for part in head.split(_HYPHEN):
            if part.text == "n":
                yield part.written_out("ne")
            elif part.text not in _FRENCH_ELISIONS:
                yield part
    if tail.text != "s":
        yield tail


def _english_segments(word: Word) -> Iterator[Word]:
    """Drops `'s`, `'ll`, `'re` ...; `n't` is the negation `not`."""
    first, *others = word.split(_APOSTROPHE)
    if others and others[0].text == "t" and first.text.endswith("n"):
        yield first.part(0, len(first.text) - 1)
        yield others[0].written_out("not")
        return
    yield first
    yield from (segment for segment in others if segment.text not in _ENGLISH_ENDINGS)
