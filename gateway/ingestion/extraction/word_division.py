"""Joins words that were divided at line ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# U+FFFE is what PDFium writes for a hyphen and the line break after it.
_DIVISION = re.compile(r"(\w+)(?:\ufffe|[-\u2010\u00ad]\n)(\w+)")
_COMPOUND = re.compile(r"\w+-\w+")
_WORD = re.compile(r"\w+")


def undivided(texts: Iterable[str]) -> Iterator[str]:
    """Yields the texts with divided words joined, and their line breaks made blanks.

    A compound keeps its hyphen where any of the texts writes it so inside a line, and before a
    capital or a digit; a word that stands whole elsewhere never does.
    """
    sources = list(texts)
    without = [_DIVISION.sub(" ", text) for text in sources]
    words = {word.casefold() for text in without for word in _WORD.findall(text)}
    compounds = {word.casefold() for text in without for word in _COMPOUND.findall(text)}

    def join(division: re.Match[str]) -> str:
        first, second = division.groups()
        compound = f"{first}-{second}"
        if (first + second).casefold() in words:
            return str(first + second)
        if compound.casefold() in compounds or not second[0].islower():
            return compound
        return str(first + second)

    for text in sources:
        yield " ".join(_DIVISION.sub(join, text).split("\n"))
