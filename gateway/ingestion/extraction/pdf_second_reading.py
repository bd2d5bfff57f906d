"""Reads a PDF page a second time, by other rules, where the first reading makes no words.

PDFium tells words apart by the distance of letters; pypdf by the orders that draw them, which keeps
the blanks between words apart from those between letters that are set wide.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pypdf
from pypdf.errors import PyPdfError

from gateway.ingestion.extraction.pdf_lines import Line

_WORD = re.compile(r"[^\W\d_]+")
# Scripts written without blanks have no words of a usual length.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTER_GAP = re.compile(r"(?<=\S) (?=\S)")
_LEAST_LETTERS = 60
_USUAL_LENGTH = (2.6, 13.0)


def is_odd(text: str) -> bool:
    """Says whether the words of a page are too short or too long on average to be words.

    Pages of few letters, and of scripts without blanks, are never odd.
    """
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if letters < _LEAST_LETTERS or _UNSPACED.search(text):
        return False
    shortest, longest = _USUAL_LENGTH
    return not shortest <= letters / len(words) <= longest


class SecondReading:
    """One PDF file, opened when its first page is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: pypdf.PdfReader | None = None

    def lines(self, number: int) -> list[Line]:
        """Returns the lines of a page, numbered from 1; none where this reading is odd too."""
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)
        try:
            if self._reader is None:
                self._reader = pypdf.PdfReader(self._path)
            text = self._reader.pages[number - 1].extract_text()
        except (PyPdfError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # What pypdf raises on damaged files is not bounded by its own errors.
            return []
        if is_odd(text):
            text = _LETTER_GAP.sub("", text)
        if is_odd(text):
            return []
        return [Line(number, " ".join(line.split())) for line in text.split("\n") if line.strip()]
