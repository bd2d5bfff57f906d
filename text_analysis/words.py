"""Cuts normalised text into words: where a word begins and ends, before it becomes a term."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

# Han, kana, Hangul: scripts written without blanks, or searched as if they were.
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Letters, digits and the accents that have no composed form.
_WORD = rf"(?:(?![{_CJK}])(?:[^\W_]|[\u0300-\u036f]))++"
# `C++`, `Notepad++`, `C#`, `A+`.
_LANGUAGE_NAME = r"(?:[a-z]++\+\+|[a-z]{1,2}+[+#])(?![\w+#])"
_JOINER = r"(?:[-._/'@&]|(?<=\d),(?=\d))"

_PATTERN = re.compile(
    rf"""
      (?P<cjk>[{_CJK}]+)
    | (?P<name>(?<!\w){_LANGUAGE_NAME})
    | (?P<grouped>(?<![\w.,])\d{{1,3}}(?:[ ]\d{{3}})++(?:[.,]\d++)?+(?![\w]))
    | (?P<compound>{_WORD}(?:{_JOINER}(?!{_LANGUAGE_NAME}){_WORD})*+)
    """,
    re.VERBOSE,
)


class WordKind(Enum):
    """Says how a word becomes terms."""

    CJK = auto()
    """Run of characters without blanks between words."""
    NAME = auto()
    """Name ending in signs that belong to it, such as `c++`."""
    GROUPED = auto()
    """Number whose thousands are set apart by blanks."""
    COMPOUND = auto()
    """Word, or words and digits joined by signs."""


class Word(NamedTuple):
    """Holds one word and its span `[start, end)` in the text it was cut from.

    The text equals that span except where a short form was written out (`n'` becomes `ne`).
    """

    kind: WordKind
    text: str
    start: int
    end: int

    def split(self, separator: re.Pattern[str]) -> list["Word"]:
        """Returns the non-empty compounds between the separators, with their spans."""
        parts: list[Word] = []
        start = 0
        for match in separator.finditer(self.text):
            parts.append(self.part(start, match.start()))
            start = match.end()
        parts.append(self.part(start, len(self.text)))
        return [part for part in parts if part.text]

    def part(self, start: int, end: int) -> "Word":
        """Returns the compound `text[start:end]`."""
        return Word(WordKind.COMPOUND, self.text[start:end], self.start + start, self.start + end)

    def written_out(self, text: str) -> "Word":
        """Returns a compound of another text that stands at the same span."""
        return Word(WordKind.COMPOUND, text, self.start, self.end)


_KINDS = {
    "cjk": WordKind.CJK,
    "name": WordKind.NAME,
    "grouped": WordKind.GROUPED,
    "compound": WordKind.COMPOUND,
}


def words(text: str) -> Iterator[Word]:
    """Yields the words of normalised text in order; signs and blanks between them are dropped."""
    for match in _PATTERN.finditer(text):
        yield Word(_KINDS[match.lastgroup or "compound"], match.group(), match.start(), match.end())


def word_texts(text: str) -> list[tuple[str, str]]:
    """Returns the name of the kind, as `kind_named` takes it, and the text of each word."""
    return [(match.lastgroup or "", match.group()) for match in _PATTERN.finditer(text)]


def kind_named(name: str) -> WordKind:
    """Returns the kind of a name; raises KeyError for one that there is not."""
    return _KINDS[name]
