"""Reads rows of values divided by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.encoding import decode
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import over_limit
from gateway.ingestion.extraction.tables import tables_in

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a CSV file in any encoding; values stay as they are written."""
    text, warnings = decode(path.read_bytes())
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(max(limits.characters, 1))
    rows = _rows(text, _delimiter_of(text), limits.cells)
    return Extraction(tuple(tables_in(rows)), warnings=warnings)


def _rows(text: str, delimiter: str, most_cells: int) -> Iterator[list[str]]:
    cell_count = 0
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            cell_count += len(row)
            if cell_count > most_cells:
                raise over_limit(f"the file has more than {most_cells} cells")
            yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise over_limit("a value of the file is longer than the whole text may be") from error


def _delimiter_of(text: str) -> str:
    """Returns the sign that divides most rows into the same number of values, and into most."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(text, delimiter))


def _regularity(text: str, delimiter: str) -> tuple[float, int]:
    try:
        sample = islice(csv.reader(io.StringIO(text), delimiter=delimiter), _SAMPLE_ROWS)
        widths = Counter(len(row) for row in sample if row)
    except csv.Error:
        return 0.0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return (count / widths.total(), width) if width > 1 else (0.0, 0)
