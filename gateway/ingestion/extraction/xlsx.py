"""Reads Excel workbooks, old and new: tables with their header row, values as they stand.

After the tables of a sheet come its comments, text boxes, and page headers and footers; those of
workbooks in the old format are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path

import python_calamine
from python_calamine import CalamineError, CalamineWorkbook

from gateway.ingestion.extraction.blocks import Block, Extraction, heading
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.office_properties import facts_of
from gateway.ingestion.extraction.refusals import over_limit, password_protected, unreadable
from gateway.ingestion.extraction.tables import tables_in
from gateway.ingestion.extraction.xlsx_annotations import annotations_of

Value = int | float | str | bool | time | date | datetime | timedelta


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a workbook; formulas count with the value they had when it was saved."""
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            blocks = tuple(_sheets(workbook, annotations_of(path), limits))
    except python_calamine.PasswordError as error:
        raise password_protected(
            "the workbook is protected by a password; save it without one"
        ) from error
    except CalamineError as error:
        raise unreadable("the workbook is damaged and cannot be opened") from error
    return Extraction(blocks, facts_of(path))


def _sheets(
    workbook: CalamineWorkbook,
    annotations: Mapping[str, Sequence[Block]],
    limits: ExtractionLimits,
) -> Iterator[Block]:
    cell_count = 0
    for name in workbook.sheet_names:
        try:
            sheet = workbook.get_sheet_by_name(name)
        except python_calamine.WorksheetNotFound:
            # Sheets that hold a chart have no cells.
            continue
        cell_count += sheet.height * sheet.width
        if cell_count > limits.cells:
            raise over_limit(f"the workbook has more than {limits.cells} cells")
        rows = ([_literal(value) for value in row] for row in sheet.iter_rows())
        blocks = [*tables_in(rows, name), *annotations.get(name, ())]
        if blocks:
            yield heading(name, 1, name)
            yield from blocks


def _literal(value: Value) -> str:
    """Writes a value as a person would read it in the cell, dates in ISO 8601."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
    if isinstance(value, datetime):
        midnight = value.time() == time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
