"""Finds headings and paragraphs among the lines of a PDF, by size, distance, ends and bullets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from gateway.ingestion.extraction.blocks import Block, heading, paragraph
from gateway.ingestion.extraction.pdf_lines import Line

_BULLET = re.compile(r"(?:[•▪‣●○■□–—*-]|\d{1,2}[.)]|[a-z]\))\s")
_ENDS_SENTENCE = re.compile(r"[.!?:;…][\"'»”’)\]]*\Z")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_SHORT_LINE = 0.8
_VERY_SHORT_LINE = 0.5

# Shares and ratios that tell headings and gaps apart in ordinary reports and letters.
_LEAST_BODY_SHARE = 0.6
_HEADING_SIZE = 1.15
_MOST_HEADING_SIZES = 4
_LONGEST_HEADING = 150
_GAP_OVER_USUAL = 1.35
_GAP_OVER_SIZE = 1.9
_LEAST_DISTANCES = 5


def blocks_from(lines: Sequence[Line]) -> Iterator[Block]:
    """Yields the headings and paragraphs of a document's lines; lines are joined by newlines."""
    levels = _heading_levels(lines)
    for number, on_page in groupby(lines, key=lambda line: line.page):
        location = f"page {number}"
        page = _Page(list(on_page), levels)
        for group in page.groups():
            text = "\n".join(line.text for line in group)
            level = page.level(group[0])
            yield heading(text, level, location) if level else paragraph(text, location)


def _heading_levels(lines: Sequence[Line]) -> Mapping[float, int]:
    """Returns heading levels by size; none in free layouts, whose sizes say nothing."""
    characters: Counter[float] = Counter()
    for line in lines:
        characters[_size(line)] += len(line.text)
    if not characters:
        return {}
    body, count = characters.most_common(1)[0]
    if not body or count < _LEAST_BODY_SHARE * characters.total():
        return {}
    sizes = {
        _size(line)
        for line in lines
        if _size(line) >= _HEADING_SIZE * body
        and len(line.text) <= _LONGEST_HEADING
        and _LETTERS.search(line.text)
    }
    if len(sizes) > _MOST_HEADING_SIZES:
        return {}
    return {size: level for level, size in enumerate(sorted(sizes, reverse=True), start=1)}


def _rows(line: Line) -> list[str]:
    """Returns the rows a line fills on the page: more than one where words are divided."""
    return line.text.split("\ufffe")


def _size(line: Line) -> float:
    return round(2 * line.size) / 2


@dataclass(slots=True)
class _Page:
    lines: Sequence[Line]
    levels: Mapping[float, int]

    def groups(self) -> Iterator[list[Line]]:
        """Yields the lines of each heading or paragraph."""
        widths = sorted(len(row) for line in self.lines for row in _rows(line))
        usual_width = widths[int(len(widths) * 0.9)]
        usual_distance = self._usual_distance()
        group = [self.lines[0]]
        for previous, line in pairwise(self.lines):
            if self._starts_anew(previous, line, usual_width, usual_distance):
                yield group
                group = []
            group.append(line)
        yield group

    def level(self, line: Line) -> int:
        """Returns the level of a heading, 0 for other lines."""
        named = len(line.text) <= _LONGEST_HEADING and _LETTERS.search(line.text)
        return self.levels.get(_size(line), 0) if named else 0

    def _usual_distance(self) -> float:
        distances = [
            previous.bottom - line.top
            for previous, line in pairwise(self.lines)
            if _size(previous) == _size(line) and previous.bottom > line.top
        ]
        return median(distances) if len(distances) >= _LEAST_DISTANCES else 0.0

    def _starts_anew(
        self, previous: Line, line: Line, usual_width: int, usual_distance: float
    ) -> bool:
        if self.level(previous) != self.level(line):
            return True
        distance = previous.bottom - line.top
        most = _GAP_OVER_USUAL * usual_distance or _GAP_OVER_SIZE * line.size
        if most and distance > most:
            return True
        if self.level(line):
            return False
        if _BULLET.match(line.text):
            return True
        width = len(_rows(previous)[-1])
        if _ENDS_SENTENCE.search(previous.text):
            return width < _SHORT_LINE * usual_width
        very_short = width < _VERY_SHORT_LINE * usual_width
        return very_short and not line.text[0].islower()
