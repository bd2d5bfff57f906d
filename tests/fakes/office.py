"""Small Word, Excel and PowerPoint files."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import pptx
from openpyxl import Workbook


def word_file(*paragraphs: str) -> bytes:
    """Returns a Word document."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def excel_file(*rows: Sequence[object]) -> bytes:
    """Returns a workbook with one sheet named "Sheet"."""
    workbook = Workbook()
    for row in rows:
        workbook.worksheets[0].append(list(row))
    buffer = io.BytesIO()
    workbook.save(buffer)
    workbook.close()
    return buffer.getvalue()


def slides_file(*titles: str) -> bytes:
    """Returns a presentation with one slide for each title."""
    presentation = pptx.Presentation()
    for title in titles:
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        shape = slide.shapes.title
        if shape is None:
            raise ValueError("the layout has no title")
        shape.text_frame.text = title
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()
