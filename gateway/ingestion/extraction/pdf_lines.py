"""Lines of a PDF page in reading order, with their place and size."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

DIVISION = "\ufffe"
"""What PDFium writes for a hyphen at the end of a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; a word divided at its end stands whole in it, with U+FFFE for the hyphen.

    `top` is the height of the base line at its first character, `bottom` at its last, both growing
    upwards. `size` is the height of its first character's font as shown. All in points; 0 where
    PDFium does not know.
    """

    page: int
    text: str
    top: float = 0.0
    bottom: float = 0.0
    size: float = 0.0


def lines_of(text_page: Any, page: int) -> Iterator[Line]:
    """Yields the lines of a text page of pypdfium2; lines without text are left out."""
    text = text_page.get_text_range()
    position = 0
    for line in text.replace("\r\n", "\n\n").replace("\r", "\n").split("\n"):
        shown = line.strip()
        if shown:
            first = position + _units(line[: len(line) - len(line.lstrip())])
            last = first + _units(shown) - 1
            if DIVISION in shown:
                shown = _without_false_divisions(text_page, shown, first)
            yield _placed(text_page, page, shown, first, last)
        position += _units(line) + 1


def _without_false_divisions(text_page: Any, text: str, first: int) -> str:
    """Returns the text with NUL for glyphs of no known meaning, which PDFium shows as divisions."""
    read: list[str] = []
    for character in text:
        if character == DIVISION:
            place = first + _units("".join(read))
            index = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, place)
            if index >= 0 and pdfium.FPDFText_GetUnicode(text_page, index) == 0:
                character = "\0"
        read.append(character)
    return "".join(read)


def _units(text: str) -> int:
    """Counts UTF-16 code units, as PDFium does."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _placed(text_page: Any, page: int, text: str, first: int, last: int) -> Line:
    start = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, first)
    end = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, last)
    if start < 0 or end < 0 or pdfium.FPDFText_GetUnicode(text_page, start) != ord(text[0]):
        return Line(page, text)
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, start, box):
        return Line(page, text)
    return Line(
        page, text, _base_line(text_page, start), _base_line(text_page, end), box.top - box.bottom
    )


def _base_line(text_page: Any, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page, index, x, y)
    return y.value
