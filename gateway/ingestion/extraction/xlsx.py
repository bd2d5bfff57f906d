"""Reads Excel workbooks: each sheet's tables with their header row, values as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import dropwhile
from pathlib import Path

import python_calamine
from python_calamine import CalamineError, CalamineWorkbook

from gateway.ingestion.extraction.blocks import Block, Extraction, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.office_properties import facts_of
from gateway.ingestion.extraction.refusals import over_limit, password_protected, unreadable
from gateway.ingestion.extraction.tables import table_block

_LONGEST_HEADER_CELL = 80

Value = int | float | str | bool | time | date | datetime | timedelta


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a workbook; formulas count with the value they had when it was saved."""
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            blocks = tuple(_sheets(workbook, limits))
    except python_calamine.PasswordError as error:
        raise password_protected(
            "the workbook is protected by a password; save it without one"
        ) from error
    except CalamineError as error:
        raise unreadable("the workbook is damaged and cannot be opened") from error
    return Extraction(blocks, facts_of(path))


def _sheets(workbook: CalamineWorkbook, limits: ExtractionLimits) -> Iterator[Block]:
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
        blocks = list(_tables(sheet.iter_rows(), name))
        if blocks:
            yield heading(name, 1, name)
            yield from blocks


def _tables(rows: Iterator[list[Value]], sheet: str) -> Iterator[Block]:
    """Yields the runs of rows between empty rows, each as a table or a line of text."""
    run: list[list[str]] = []
    for row in rows:
        cells = [_literal(value) for value in row]
        if any(cells):
            run.append(cells)
        elif run:
            yield from _run(run, sheet)
            run = []
    if run:
        yield from _run(run, sheet)


def _run(rows: Sequence[list[str]], sheet: str) -> Iterator[Block]:
    """Yields rows of one value above the others as lines of text, and the rest as a table."""
    table = list(dropwhile(lambda row: sum(map(bool, row)) == 1, rows))
    for row in rows[: len(rows) - len(table)]:
        yield paragraph("".join(row), sheet)
    block = table_block(table, has_header=bool(table) and _is_header(table), location=sheet)
    if block is not None:
        yield block


def _is_header(rows: Sequence[list[str]]) -> bool:
    """Takes the first row for a header if it names every column in few words, each differently."""
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    names = [rows[0][column].strip() for column in used]
    return (
        all(name and len(name) <= _LONGEST_HEADER_CELL for name in names)
        and not any(_is_number(name) for name in names)
        and len(set(names)) == len(names)
    )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


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
