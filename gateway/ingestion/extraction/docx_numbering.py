"""Numbers that Word shows before list items and headings but does not write into their text.

A paragraph names a numbering and a depth in it. Numberings that share an abstract one count on
together, unless one of them says where it starts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lxml import etree  # type: ignore[import-untyped]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile(r"%([1-9])")
_DEPTHS = 9
_BULLETS = frozenset({"bullet", "none"})
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 3_999
_LARGEST_NUMBER = 32_767
_MOST_LETTERS = 30


@dataclass(frozen=True, slots=True)
class _Level:
    """How one depth of a numbering counts.

    Paragraphs at depths below `restart` set it back, those at any depth above it where it is None.
    """

    form: str = "bullet"
    text: str = ""
    start: int = 1
    restart: int | None = None
    legal: bool = False


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The levels of one numbering; `starts` holds what it begins anew with, by depth."""

    abstract_id: str
    levels: Mapping[int, _Level]
    starts: Mapping[int, int]


class Numberings:
    """Counts the numbered paragraphs of one part of a document, in their order."""

    def __init__(self, root: etree._Element | None) -> None:
        self._numberings = {} if root is None else _numberings_from(root)
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, numbering_id: str, depth: int) -> str:
        """Counts a paragraph, and returns what Word shows before it; empty for a bullet."""
        numbering = self._numberings.get(numbering_id)
        level = numbering.levels.get(depth) if numbering is not None else None
        if numbering is None or level is None:
            return ""
        counts = self._counts.setdefault(numbering.abstract_id, {})
        if depth in numbering.starts and (numbering_id, depth) not in self._begun:
            self._begun.add((numbering_id, depth))
            counts[depth] = numbering.starts[depth]
        else:
            counts[depth] = counts.get(depth, level.start - 1) + 1
        for above in range(depth):
            # An item that skips a depth begins it all the same.
            counts.setdefault(above, numbering.levels.get(above, _Level()).start)
        self._set_back(numbering, counts, depth)
        return "" if level.form in _BULLETS else _shown(numbering, level, counts)

    @staticmethod
    def _set_back(numbering: _Numbering, counts: dict[int, int], depth: int) -> None:
        for deeper in range(depth + 1, _DEPTHS):
            level = numbering.levels.get(deeper, _Level())
            if level.restart is None or depth < level.restart:
                counts.pop(deeper, None)


def _shown(numbering: _Numbering, level: _Level, counts: Mapping[int, int]) -> str:
    def number(place: re.Match[str]) -> str:
        depth = int(place.group(1)) - 1
        other = numbering.levels.get(depth, _Level())
        form = "decimal" if level.legal else other.form
        return _written(counts.get(depth, other.start), form)

    return _PLACE.sub(number, level.text).strip()


def _numberings_from(root: etree._Element) -> dict[str, _Numbering]:
    abstract = {
        element.get(f"{_W}abstractNumId", ""): {
            _depth(level): _level_from(level) for level in element.iterchildren(f"{_W}lvl")
        }
        for element in root.iterchildren(f"{_W}abstractNum")
    }
    found: dict[str, _Numbering] = {}
    for element in root.iterchildren(f"{_W}num"):
        abstract_id = _value(element.find(f"{_W}abstractNumId"))
        levels = dict(abstract.get(abstract_id, {}))
        starts: dict[int, int] = {}
        for override in element.iterchildren(f"{_W}lvlOverride"):
            depth = _depth(override)
            own = override.find(f"{_W}lvl")
            if own is not None:
                levels[depth] = _level_from(own)
            start = _number(override.find(f"{_W}startOverride"))
            if start is not None:
                starts[depth] = start
                levels[depth] = replace(levels.get(depth, _Level()), start=start)
        found[element.get(f"{_W}numId", "")] = _Numbering(abstract_id, levels, starts)
    return found


def _level_from(element: etree._Element) -> _Level:
    start = _number(element.find(f"{_W}start"))
    legal = element.find(f"{_W}isLgl")
    return _Level(
        form=_value(element.find(f".//{_W}numFmt")),
        text=_value(element.find(f"{_W}lvlText")),
        start=1 if start is None else start,
        restart=_number(element.find(f"{_W}lvlRestart")),
        legal=legal is not None and _value(legal) not in {"0", "false"},
    )


def _written(number: int, form: str) -> str:
    if form in {"lowerLetter", "upperLetter"} and 0 < number <= 26 * _MOST_LETTERS:
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters.upper() if form == "upperLetter" else letters
    if form in {"lowerRoman", "upperRoman"} and 0 < number <= _LARGEST_ROMAN:
        roman = _roman(number)
        return roman.upper() if form == "upperRoman" else roman
    if form == "decimalZero":
        return f"{number:02}"
    return "" if form in _BULLETS else str(number)


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        written += sign * count
    return written


def _depth(element: etree._Element) -> int:
    text = element.get(f"{_W}ilvl") or ""
    return int(text) if text.isdigit() and int(text) < _DEPTHS else 0


def _number(element: etree._Element | None) -> int | None:
    text = _value(element)
    return min(int(text), _LARGEST_NUMBER) if text.isdigit() and len(text) < _DEPTHS else None


def _value(element: etree._Element | None) -> str:
    return (element.get(f"{_W}val") or "") if element is not None else ""
