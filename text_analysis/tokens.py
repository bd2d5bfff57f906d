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
from itertools import chain, groupby
from typing import TypeAlias

import Stemmer

from text_analysis import stop_words
from text_analysis.normalisation import fold_accents, normalise, normalised_text
from text_analysis.word_cache import LONGEST_KNOWN, Terms, WordCache
from text_analysis.words import Word, WordKind, words

ANALYZER_VERSION = 1
"""Grows whenever the same text gives other terms: an index of another version must be rebuilt."""

_APOSTROPHE = re.compile("'")
_HYPHEN = re.compile("-")
_BLANK = re.compile(" ")
_SURFACE = re.compile(r"\S+")
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
_LAST_LATIN_LETTER = "\u024f"
# Two million words of a language hold fewer different ones; that many take 20 MB.
_KNOWN_SURFACES = 100_000
_KNOWN_WORDS = 50_000
_MOST_ROUNDS = 9


_Part: TypeAlias = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Token:
    """Holds one term and the span `[start, end)` of the original text it stands for.

    Spans are never empty. Their starts never decrease from one token of a text to the next; an
    identifier and its parts overlap.
    """

    term: str
    start: int
    end: int


class _NumberTerms(tuple[str, ...]):
    """Terms of a surface word that begins or ends with a digit.

    It may be part of a number whose thousands are set apart by blanks.
    """

    __slots__ = ()


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
        self._known_surfaces = WordCache(self._surface_terms, _KNOWN_SURFACES)
        self._known_parts = lru_cache(_KNOWN_WORDS)(self._parts)

    def analyze(self, text: str) -> list[Token]:
        """Returns the tokens of the text in reading order."""
        normalised = normalise(text)
        return [
            Token(term, *normalised.original_span(word.start + start, word.start + end))
            for word in words(normalised.text)
            for term, start, end in self._parts_of(word)
        ]

    def terms(self, text: str) -> list[str]:
        """Returns the terms of the text in reading order, repeated as often as they occur.

        They are those of `analyze`, found without offsets by looking up surface words.
        """
        found = list(map(self._known_surfaces.__getitem__, text.split()))
        if _NumberTerms in map(type, found):
            found = self._with_numbers_joined(text, found)
        return list(chain.from_iterable(found))

    def _with_numbers_joined(self, text: str, found: list[Terms]) -> list[Terms]:
        """Analyses neighbouring numbers together; blanks part all other words for good."""
        spans = [match.span() for match in _SURFACE.finditer(text)]
        joined: list[Terms] = []
        first = 0
        for kind, run in groupby(found, type):
            terms = list(run)
            last = first + len(terms) - 1
            if kind is _NumberTerms and first < last:
                numbers = text[spans[first][0] : spans[last][1]]
                terms = [self._normalised_terms(normalised_text(numbers))]
            joined += terms
            first = last + 1
        return joined

    def _surface_terms(self, surface: str) -> Terms:
        text = normalised_text(surface)
        if text.isalpha() and max(text) <= _LAST_LATIN_LETTER:
            # Nothing to cut; most new words of a language are such.
            return () if text in self._stop_words else (self._stemmed(text),)
        terms = self._normalised_terms(text)
        at_digit = text[:1].isdecimal() or text[-1:].isdecimal()
        return _NumberTerms(terms) if at_digit else terms

    def _normalised_terms(self, text: str) -> Terms:
        return tuple(term for word in words(text) for term, _, _ in self._parts_of(word))

    def _parts_of(self, word: Word) -> tuple[_Part, ...]:
        known = len(word.text) <= LONGEST_KNOWN
        return (self._known_parts if known else self._parts)(word.kind, word.text)

    def _parts(self, kind: WordKind, text: str) -> tuple[_Part, ...]:
        """Returns what a word becomes wherever it stands, with spans inside the word."""
        return tuple(self._terms_of(Word(kind, text, 0, len(text))))

    def _terms_of(self, word: Word) -> Iterator[_Part]:
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

    def _segment_terms(self, segment: Word) -> Iterator[_Part]:
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

    def _plain_terms(self, word: Word) -> Iterator[_Part]:
        term = self._stem(word.text)
        if term:
            yield term, word.start, word.end

    def _stem(self, word: str) -> str:
        """Returns the term of a word without signs; empty for a stop word."""
        if word in self._stop_words:
            return ""
        if _DIGIT.search(word):
            return fold_accents(word)
        return self._stemmed(word)

    def _stemmed(self, word: str) -> str:
        # French endings depend on accents: `livrées` becomes `livr`, but `livrees` only `livre`.
        # Stemming on until nothing changes makes the two fall together.
        for _ in range(_MOST_ROUNDS if self.language == "fr" else 1):
            stem = self._stemmed_once(word)
            if stem == word:
                break
            word = stem
        return word

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


def _bigrams(run: Word) -> Iterator[_Part]:
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
