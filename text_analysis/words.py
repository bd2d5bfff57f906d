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

# `ungrouped` takes in one go the numbers before a group that turned out to be none (`1 234 567x`);
# one at a time, each would be tried again as the start of a grouped number.
_PATTERN = re.compile(
    rf"""
      (?P<cjk>[{_CJK}]+)
    | (?P<name>(?<!\w){_LANGUAGE_NAME})
    | (?P<grouped>(?<![\w.,])\d{{1,3}}(?:[ ]\d{{3}})++(?:[.,]\d++)?+(?![\w]))
    | (?P<ungrouped>(?<![\w.,])\d{{1,3}}(?:[ ]\d{{3}}(?=[ ]\d{{3}}))*+(?=[ ]\d{{3}}))
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


_BLANK = re.compile(" ")
_KINDS = {
    "cjk": WordKind.CJK,
    "name": WordKind.NAME,
    "grouped": WordKind.GROUPED,
    "ungrouped": WordKind.COMPOUND,
    "compound": WordKind.COMPOUND,
}


def words(text: str) -> Iterator[Word]:
    """Yields the words of normalised text in order; signs and blanks between them are dropped."""
    for match in _PATTERN.finditer(text):
        group = match.lastgroup or "compound"
        word = Word(_KINDS[group], match.group(), match.start(), match.end())
        if group == "ungrouped":
            yield from word.split(_BLANK)
        else:
            yield word
