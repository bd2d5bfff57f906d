"""What a text says that can be held against another: numbers, names, codes and words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from cachetools import TTLCache, cached

from text_analysis.abbreviations import is_abbreviation
from text_analysis.normalisation import fold_accents
from text_analysis.tokens import Analyzer

REMEMBERED_S = 60.0
"""Seconds: as long as an answer is written; deleted texts are not to stay."""

_GROUP = "[ \u00a0\u202f'’]"
_NUMBER = re.compile(rf"\d{{1,3}}(?:{_GROUP}\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*")
_LIST_NUMBER = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_GROUPS = re.compile(_GROUP)
_MONTHS = (
    "janvier|january",
    "fevrier|february",
    "mars|march",
    "avril|april",
    "mai|may",
    "juin|june",
    "juillet|july",
    "aout|august",
    "septembre|september",
    "octobre|october",
    "novembre|november",
    "decembre|december",
)
_SPELLED = {
    **{name: str(at) for at, names in enumerate(_MONTHS, 1) for name in names.split("|")},
    **{
        name: str(number)
        for number, names in {
            1: "un une one premier premiere first", 2: "deux two second seconde", 3: "trois three",
            4: "quatre four", 5: "cinq five", 6: "six", 7: "sept seven", 8: "huit eight",
            9: "neuf nine", 10: "dix ten", 11: "onze eleven", 12: "douze twelve", 13: "treize",
            14: "quatorze fourteen", 15: "quinze fifteen", 16: "seize sixteen", 20: "vingt twenty",
            30: "trente thirty", 40: "quarante forty", 50: "cinquante fifty", 60: "soixante sixty",
            100: "cent hundred", 1000: "mille thousand",
        }.items()
        for name in names.split()
    },
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
# `BL-2024-117`, `EN206`, `2024-117/B`; a number with its unit, such as `18h`, is none.
_CODE = re.compile(r"\b(?=[\w./-]*\d)(?:[^\W\d_]\w*(?:[./-]\w+)*|\d+(?:[/-]\w+)*[/-][^\W\d_]\w*)")
_CAPITALISED = re.compile(r"(?<![\w’'-])[A-ZÀ-ÖØ-Þ][\w-]{2,}")
_BEFORE = re.compile(r"(?P<word>\S+)[ \t\u00a0]+(?:[«“\"(\[*_]\s*)*\Z")


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Numbers in one form each, words and codes without accents and case, and terms of analysis.

    A number that may be read in two ways is there in both.
    """

    numbers: frozenset[Decimal]
    words: frozenset[str]
    terms: frozenset[str]


def number_readings(text: str) -> list[frozenset[Decimal]]:
    """Returns for each number of a text what it may mean; list numbers are none.

    `1 234,50` and `1.234,5` are one number; `1,234` is a thousand or one and a bit.
    """
    spoken = _LIST_NUMBER.sub(" ", text)
    return [_readings(match.group()) for match in _NUMBER.finditer(spoken)]


def names_of(text: str) -> list[str]:
    """Returns words with a capital that begin no sentence, and codes such as BL-2024-117.

    Each once, without accents and case.
    """
    names = [
        match.group()
        for match in _CAPITALISED.finditer(text)
        if not _begins_sentence(text, match.start())
    ]
    return list(dict.fromkeys(plain_word(name) for name in (*names, *_CODE.findall(text))))


@cached(TTLCache(512, REMEMBERED_S))
def facts_of(text: str, language: str) -> TextFacts:
    """Returns what a text says; `language` is "fr" or "en"."""
    plain = plain_word(text)
    numbers = {reading for readings in number_readings(text) for reading in readings}
    words = frozenset(_WORD.findall(plain))
    numbers |= {Decimal(number) for name, number in _SPELLED.items() if name in words}
    return TextFacts(
        frozenset(numbers),
        words | frozenset(_CODE.findall(plain)),
        frozenset(analyzer(language).terms(text)),
    )


@lru_cache(maxsize=2)
def analyzer(language: str) -> Analyzer:
    """Returns the analyzer of a language, "fr" or "en"."""
    return Analyzer(language)


def plain_word(text: str) -> str:
    """Returns a text without accents and case."""
    return fold_accents(text).casefold()


def _begins_sentence(text: str, start: int) -> bool:
    before = _BEFORE.search(text[max(0, start - 40) : start])
    if before is None:
        return True
    word = before["word"]
    if word.endswith(".") and is_abbreviation(word[:-1]):
        return False
    return word[-1] in ".!?…:|>#*•-–—"


def _readings(written: str) -> frozenset[Decimal]:
    digits = _GROUPS.sub("", written)
    commas, points = digits.count(","), digits.count(".")
    if commas and points:
        decimal = max(digits.rfind(","), digits.rfind("."))
        readings = {f"{_bare(digits[:decimal])}.{_bare(digits[decimal + 1 :])}"}
    elif commas + points == 0:
        readings = {digits}
    elif commas + points > 1:
        # Thousands, or parts of a date or a version, each of which counts.
        readings = {_bare(digits), *re.split("[.,]", digits)}
    else:
        whole, _, part = digits.replace(",", ".").partition(".")
        readings = {f"{whole}.{part}"}
        if len(part) == 3 and len(whole) <= 3:
            readings.add(whole + part)
    return frozenset(Decimal(reading) for reading in readings)


def _bare(digits: str) -> str:
    return digits.replace(",", "").replace(".", "")
