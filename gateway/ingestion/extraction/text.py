"""Reads plain text: paragraphs stand between blank lines."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.ingestion.extraction.blocks import Extraction, paragraph
from gateway.ingestion.extraction.encoding import decode
from gateway.ingestion.extraction.limits import ExtractionLimits

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+|\f")


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a text file in any encoding."""
    text, warnings = decode(path.read_bytes())
    pieces = _BLANK_LINES.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return Extraction(
        tuple(paragraph(piece) for piece in pieces if piece.strip()), warnings=warnings
    )
