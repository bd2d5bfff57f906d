"""A text with marked parts that keep their marks while it is shortened for a terminal."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from rich.text import Text

from justesse.cli.output import harmless
from justesse.client import TextSpan


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Holds a text, and for each of its characters whether it is marked."""

    text: str
    marks: tuple[bool, ...]

    @classmethod
    def of(cls, text: str, spans: Iterable[TextSpan]) -> "MarkedText":
        """Marks the spans; what they name beyond the text is not there."""
        marks = [False] * len(text)
        for span in spans:
            for place in range(max(0, span.start), min(span.end, len(text))):
                marks[place] = True
        return cls(text, tuple(marks))

    def from_place(self, start: int) -> "MarkedText":
        """Returns the text from this character on."""
        return MarkedText(self.text[start:], self.marks[start:])

    def without(self, pattern: re.Pattern[str]) -> "MarkedText":
        """Returns the text without what the pattern matches."""
        kept = [True] * len(self.text)
        for match in pattern.finditer(self.text):
            kept[match.start() : match.end()] = [False] * (match.end() - match.start())
        pairs = zip(self.text, self.marks, kept, strict=True)
        return _joined((character, mark) for character, mark, stays in pairs if stays)

    def in_one_line(self) -> "MarkedText":
        """Returns a harmless text with single spaces between its words, as `one_line` does."""
        pairs: list[tuple[str, bool]] = []
        for character, mark in zip(self.text, self.marks, strict=True):
            if not harmless(character).isspace():
                pairs.append((character, mark))
            elif pairs and pairs[-1][0] != " ":
                pairs.append((" ", False))
        if pairs and pairs[-1][0] == " ":
            pairs.pop()
        return _joined(pairs)

    def styled(self, style: str) -> Text:
        """Returns the text with its marked parts in a style."""
        shown = Text()
        pairs = zip(self.text, self.marks, strict=True)
        for marked, part in groupby(pairs, key=itemgetter(1)):
            shown.append("".join(character for character, _ in part), style if marked else None)
        return shown


def _joined(pairs: Iterable[tuple[str, bool]]) -> MarkedText:
    listed = list(pairs)
    return MarkedText(
        "".join(character for character, _ in listed), tuple(mark for _, mark in listed)
    )
