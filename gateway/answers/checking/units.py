"""The sentences of an answer, each with the citations behind it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from gateway.answers.checking.links import code_spans
from gateway.answers.checking.marks import MARK
from gateway.context.folding import folded
from text_analysis.sentences import sentence_spans

_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:\*\*|__)[^*_]+(?:\*\*|__)\s*:?\s*\Z")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_ONLY_SIGNS = re.compile(r"[\W\d_]*")
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark `[start, end)` of the text; `said` stands between its brackets."""

    start: int
    end: int
    said: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence `[start, end)` with the marks in and behind it; blanks around it are in none."""

    start: int
    end: int
    marks: tuple[Mark, ...]
    is_code: bool = False


def units_of(text: str) -> list[Unit]:
    """Returns the sentences of a text in order; code is one, and so is each row of a table.

    Marks that stand behind a full stop belong to the sentence before.
    """
    codes = [span for span in code_spans(text) if "\n" in text[slice(*span)]]
    inline = [span for span in code_spans(text) if "\n" not in text[slice(*span)]]
    marks = [
        mark for mark in _marks(text) if not any(a <= mark.start < b for a, b in inline + codes)
    ]
    units: list[Unit] = []
    end = 0
    for start, stop in [*codes, (len(text), len(text))]:
        units += _prose(text, end, start, marks)
        if stop > start:
            units.append(Unit(start, stop, (), is_code=True))
        end = stop
    return units


def needs_citation(sentence: str) -> bool:
    """Whether a sentence, without its marks, says something that a source must vouch for.

    Headings, introductions that end with a colon, questions, borders and a few words do not.
    """
    said = sentence.strip()
    return not (
        _HEADING.match(said)
        or said.rstrip("*_ ").endswith((":", "?"))
        or _ONLY_SIGNS.fullmatch(said)
        or len(re.findall(r"[^\W\d_]{2,}", said)) < _FEWEST_WORDS
    )


def _marks(text: str) -> Iterator[Mark]:
    plain = folded(text)
    for match in MARK.finditer(plain):
        yield Mark(match.start(), match.end(), text[slice(*match.span("said"))])


def _prose(text: str, start: int, end: int, marks: list[Mark]) -> Iterator[Unit]:
    spans = [
        (start + first, start + last)
        for a, b in _lines_apart(text[start:end])
        for first, last in _sentences(text[start:end], a, b)
    ]
    open_start, open_end = -1, -1
    for first, last in spans:
        # What begins with a mark on the same line goes with the sentence before.
        at = first
        if open_start >= 0 and "\n" not in text[open_end:first]:
            at = _behind_marks(text, first, last, marks)
            if at > first:
                open_end = _without_blanks(text, at, open_end)
        if at >= last:
            continue
        if open_start >= 0:
            yield _unit(open_start, open_end, marks)
        open_start, open_end = at, last
    if open_start >= 0:
        yield _unit(open_start, open_end, marks)


def _behind_marks(text: str, first: int, last: int, marks: list[Mark]) -> int:
    """Returns where the sentence goes on behind the marks that it begins with."""
    at = first
    for mark in _marks_within(marks, first, last):
        if mark.start == at and mark.end <= last:
            at = mark.end
            while at < last and text[at] in " \t.,;":
                at += 1
    return at


def _without_blanks(text: str, end: int, least: int) -> int:
    while end > least and text[end - 1].isspace():
        end -= 1
    return end


def _unit(start: int, end: int, marks: list[Mark]) -> Unit:
    return Unit(start, end, tuple(_marks_within(marks, start, end)))


def _marks_within(marks: list[Mark], start: int, end: int) -> list[Mark]:
    """Returns the marks that begin in `[start, end)`; all are in order."""
    first = bisect_left(marks, start, key=attrgetter("start"))
    return marks[first : bisect_left(marks, end, lo=first, key=attrgetter("start"))]


def _lines_apart(text: str) -> Iterator[tuple[int, int]]:
    """Yields rows of tables, and what lies between them."""
    end = 0
    for row in _TABLE_ROW.finditer(text):
        yield end, row.start()
        yield row.span()
        end = row.end()
    yield end, len(text)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, last in sentence_spans(text[start:end]):
        yield start + first, start + last
