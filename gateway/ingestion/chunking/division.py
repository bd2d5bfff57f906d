"""Divides text that is longer than a passage may be, at the gentlest border there is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from gateway.ingestion.chunking.measures import Measure
from text_analysis.sentences import sentence_spans

Span = tuple[int, int]

_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_LATEST_BLANK = 0.8
_LONGEST_CLUSTER = 64


def sentences_within(text: str, maximum: float, measure: Measure) -> Iterator[Span]:
    """Yields spans of whole sentences, and of parts of those longer than `maximum`.

    Spans are in order, do not overlap, and hold every non-blank character together.
    """
    for start, end in sentence_spans(text):
        if measure(text[start:end]) <= maximum:
            yield start, end
        else:
            yield from cuts(text, start, end, maximum, measure)


def cuts(text: str, start: int, end: int, maximum: float, measure: Measure) -> Iterator[Span]:
    """Yields spans of at most `maximum`, cut at blanks where there are any near the limit.

    A character and the marks combined with it stay together. Spans are never empty, so that the
    cutting ends even where one character alone is longer than `maximum`.
    """
    while start < end:
        if text[start].isspace():
            start += 1
            continue
        border = start + _fitting(text, start, end, maximum, measure)
        if border < end:
            border = _gentle_border(text, start, border)
        yield start, start + len(text[start:border].rstrip())
        start = border


def _fitting(text: str, start: int, end: int, maximum: float, measure: Measure) -> int:
    """Returns how many characters from `start` on fit, at least 1."""
    available = end - start
    most = 1
    while most < available and measure(text[start : start + most]) <= maximum:
        most = min(2 * most, available)
    if measure(text[start : start + most]) <= maximum:
        return most
    fits, too_many = 1, most
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if measure(text[start : start + middle]) <= maximum:
            fits = middle
        else:
            too_many = middle
    return fits


def _gentle_border(text: str, start: int, border: int) -> int:
    earliest = start + int((border - start) * _LATEST_BLANK)
    for position in range(border, max(earliest, start), -1):
        if text[position].isspace():
            return position
    position = border
    while position > max(start + 1, border - _LONGEST_CLUSTER):
        if not _joined(text, position):
            return position
        position -= 1
    return border


def _joined(text: str, position: int) -> bool:
    """Says whether the characters on both sides of a position belong to one shown character."""
    after, before = text[position], text[position - 1]
    return unicodedata.category(after).startswith("M") or after in _JOINERS or before == "\u200d"
