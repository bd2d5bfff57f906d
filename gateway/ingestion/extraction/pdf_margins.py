"""Tells the lines that PDF pages repeat at their edges from the text between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, product

from gateway.ingestion.extraction.pdf_lines import Line

_NUMBER = re.compile(r"\d{1,9}")
_EDGE_LINES = 3
_LEAST_PAGES = 3
_LEAST_SHARE = 0.2
_MOST_NUMBERS = 3

_Key = tuple[str, tuple[tuple[str, int], ...]]


def without_repeated_margins(lines: Sequence[Line], page_count: int) -> list[Line]:
    """Returns the lines of a document, those that pages repeat at their edges only once.

    Lines repeat each other if they differ in nothing but numbers that grow with the page. Bare page
    numbers vanish altogether.
    """
    keys: dict[int, list[_Key]] = {}
    for _, group in groupby(range(len(lines)), key=lambda at: lines[at].page):
        for place in _edges(lines, list(group)):
            keys[place] = list(_keys(lines[place]))
    pages: Counter[_Key] = Counter()
    for page_keys in _by_page(lines, keys):
        pages.update(page_keys)
    least = max(_LEAST_PAGES, _LEAST_SHARE * page_count)
    repeated = {key for key, count in pages.items() if count >= least}
    kept: list[Line] = []
    seen: set[_Key] = set()
    for place, line in enumerate(lines):
        matching = repeated.intersection(keys.get(place, ()))
        if matching and (matching & seen or not re.search(r"[^\W\d_]", line.text)):
            continue
        seen |= matching
        kept.append(line)
    return kept


def _by_page(lines: Sequence[Line], keys: dict[int, list[_Key]]) -> Iterator[set[_Key]]:
    for _, places in groupby(sorted(keys), key=lambda place: lines[place].page):
        yield {key for place in places for key in keys[place]}


def _edges(lines: Sequence[Line], places: Sequence[int]) -> set[int]:
    """Returns the first and last lines of a page, in reading order and by height."""
    by_height = sorted(places, key=lambda place: -lines[place].top)
    return {
        place
        for order in (places, by_height)
        for place in (*order[:_EDGE_LINES], *order[-_EDGE_LINES:])
    }


def _keys(line: Line) -> Iterator[_Key]:
    """Yields what repetitions of a line have in common: each number as such, or from its page."""
    text = " ".join(line.text.split()).casefold()
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if len(numbers) > _MOST_NUMBERS:
        yield text, ()
        return
    readings = [[("same", number), ("page", number - line.page)] for number in numbers]
    for reading in product(*readings):
        yield _NUMBER.sub("#", text), tuple(reading)
