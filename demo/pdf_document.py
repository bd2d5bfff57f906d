"""PDF documents built from a source.

Pages are A4 in the standard fonts of every PDF reader, whose characters are those of
Windows-1252. The category is the document's subject.
"""

from __future__ import annotations

import io
import re
from xml.sax.saxutils import escape

from reportlab.lib import colors, pagesizes, styles, units
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import flowables, paragraph, tables
from reportlab.platypus.doctemplate import BaseDocTemplate, SimpleDocTemplate

from demo.document_source import Block, DocumentSource, Heading, ItemList, Paragraph, Table

# A line must not end within "1 200 000 €".
_NUMBER_SPACE = re.compile(r"(?<=\d) (?=\d{3}\b|€|%)")
_MARGIN = 2 * units.cm
_STYLES = styles.getSampleStyleSheet()
_BODY = styles.ParagraphStyle("Body", parent=_STYLES["BodyText"], fontSize=11, leading=15)
_ITEM = styles.ParagraphStyle("Item", parent=_STYLES["Bullet"], fontSize=11, leading=15)
_CELL = styles.ParagraphStyle("Cell", parent=_STYLES["BodyText"], fontSize=9, spaceBefore=0)


def pdf_bytes(source: DocumentSource) -> bytes:
    """Returns the PDF file; the same source gives the same bytes.

    Raises:
        UnicodeEncodeError: a text holds a character outside Windows-1252.
    """
    file = io.BytesIO()
    document = SimpleDocTemplate(
        file,
        pagesize=pagesizes.A4,
        title=source.title,
        subject=source.category,
        keywords=list(source.keywords),
        author="Comptoir Armeval",
        creator="Comptoir Armeval",
        lang="fr",
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        # Neither the clock nor the version of the compression library may show in the file.
        invariant=1,
        pageCompression=0,
    )
    story: list[flowables.Flowable] = []
    for block in source.blocks:
        story += _flowables(block)
    document.build(story, onFirstPage=_draw_footer, onLaterPages=_draw_footer)
    return file.getvalue()


def _flowables(block: Block) -> list[flowables.Flowable]:
    match block:
        case Heading(level, text):
            return [paragraph.Paragraph(_markup(text), _STYLES[f"Heading{level}"])]
        case Paragraph(text):
            return [paragraph.Paragraph(_markup(text), _BODY)]
        case ItemList(ordered, items):
            return [
                paragraph.Paragraph(
                    _markup(item),
                    _ITEM,
                    bulletText=f"{number}." if ordered else "•",
                )
                for number, item in enumerate(items, start=1)
            ]
        case Table(rows):
            return [_table(rows), flowables.Spacer(1, 0.3 * units.cm)]


def _table(rows: tuple[tuple[str, ...], ...]) -> tables.Table:
    cells = [[paragraph.Paragraph(_markup(text), _CELL) for text in row] for row in rows]
    table = tables.Table(cells, colWidths="*", repeatRows=1)
    table.setStyle(
        tables.TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
                ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    return table


def _markup(text: str) -> str:
    text.encode("cp1252")
    return escape(_NUMBER_SPACE.sub("\N{NO-BREAK SPACE}", text))


def _draw_footer(canvas: Canvas, document: BaseDocTemplate) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(_MARGIN, units.cm, f"Comptoir Armeval - usage interne - {document.page}")
