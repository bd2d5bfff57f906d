"""Excel workbooks built from a source.

Each heading of level 1 begins a sheet of that name. A paragraph fills the first cell of a row; a
table fills as many rows and columns as it has. Numbers (decimal comma) and ISO dates become typed
cells.
"""

from __future__ import annotations

import io
import re
from datetime import date

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet
from openpyxl.xml.functions import tostring

from demo.document_source import DocumentSource, Heading, ItemList, Paragraph, Table
from demo.zip_package import PACKAGE_TIME, repack

_NUMBER = re.compile(r"-?\d+(,\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WIDEST_COLUMN = 40


def xlsx_bytes(source: DocumentSource) -> bytes:
    """Returns the .xlsx file; the same source gives the same bytes.

    Raises:
        ValueError: text stands before the first sheet, or a heading is not of level 1.
    """
    workbook = Workbook()
    workbook.remove(workbook.worksheets[0])
    sheet: Worksheet | None = None
    for block in source.blocks:
        if isinstance(block, Heading):
            sheet = _new_sheet(workbook, block)
        elif sheet is None:
            raise ValueError("text before the first sheet; begin with a heading of level 1")
        else:
            _add(sheet, block)
    properties = workbook.properties
    properties.title = source.title
    properties.keywords = ", ".join(source.keywords)
    properties.category = source.category
    properties.version = source.version
    properties.language = "fr"
    properties.creator = "Comptoir Armeval"
    properties.created = PACKAGE_TIME
    file = io.BytesIO()
    workbook.save(file)
    # Saving stamps the current time over any that was set before.
    properties.modified = PACKAGE_TIME
    return repack(file.getvalue(), {"docProps/core.xml": tostring(properties.to_tree())})


def _new_sheet(workbook: Workbook, heading: Heading) -> Worksheet:
    if heading.level != 1:
        raise ValueError(f"heading {heading.text!r} of a workbook must be of level 1")
    sheet: Worksheet = workbook.create_sheet(heading.text)
    return sheet


def _add(sheet: Worksheet, block: Paragraph | ItemList | Table) -> None:
    match block:
        case Paragraph(text):
            sheet.append([text])
        case ItemList(_, items):
            for item in items:
                sheet.append([item])
        case Table(rows):
            first = sheet.max_row + 1
            for row in rows:
                sheet.append([_cell_value(text) for text in row])
            _format_table(sheet, first, rows)


def _format_table(sheet: Worksheet, first: int, rows: tuple[tuple[str, ...], ...]) -> None:
    for cell in sheet[first]:
        cell.font = Font(bold=True)
    for column, texts in enumerate(zip(*rows, strict=True), start=1):
        width = max(len(text) for text in texts)
        sheet.column_dimensions[get_column_letter(column)].width = min(width + 2, _WIDEST_COLUMN)
    for row in sheet.iter_rows(min_row=first):
        for cell in row:
            if isinstance(cell.value, date):
                cell.number_format = "DD/MM/YYYY"


def _cell_value(text: str) -> str | int | float | date | None:
    if not text:
        return None
    if _DATE.fullmatch(text):
        return date.fromisoformat(text)
    if not _NUMBER.fullmatch(text):
        return text
    return float(text.replace(",", ".")) if "," in text else int(text)
