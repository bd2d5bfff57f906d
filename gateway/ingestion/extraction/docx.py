"""Reads Word documents: headings, paragraphs, lists and tables in order, then the notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml
from lxml import etree  # type: ignore[import-untyped]

from gateway.ingestion.extraction.archive import ARCHIVE_ERRORS
from gateway.ingestion.extraction.blocks import (
    Block,
    BlockKind,
    Extraction,
    heading,
    paragraph,
)
from gateway.ingestion.extraction.docx_numbering import Numberings
from gateway.ingestion.extraction.docx_paragraphs import (
    CELL,
    PARAGRAPH,
    ROW,
    TABLE,
    Style,
    style_of,
    styles_from,
    text_boxes_of,
    text_of,
)
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.office_properties import facts_of
from gateway.ingestion.extraction.refusals import over_limit, unreadable
from gateway.ingestion.extraction.tables import table_block

_NOTES = ("/footnotes", "/endnotes", "/comments")
_MARGINS = ("/header", "/footer")
_NUMBERING = "/numbering"


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a Word document."""
    try:
        document = docx.Document(str(path))
        blocks = tuple(_Walk(document, limits).blocks())
    except (*ARCHIVE_ERRORS, OpcError, KeyError, etree.XMLSyntaxError) as error:
        raise unreadable("the Word document is damaged and cannot be opened") from error
    return Extraction(blocks, facts_of(path))


class _Walk:
    def __init__(self, document: WordDocument, limits: ExtractionLimits) -> None:
        self._document = document
        self._limits = limits
        self._cell_count = 0
        self._styles = _styles(document)
        self._numbering_root = _numbering_root(document)
        self._numberings = Numberings(self._numbering_root)

    def blocks(self) -> Iterator[Block]:
        """Yields the blocks of the body, then those of notes, comments, headers and footers."""
        yield from self._below(self._document.element.body)
        seen: set[str] = set()
        for ending in (*_NOTES, *_MARGINS):
            for relation in self._document.part.rels.values():
                if relation.is_external or not relation.reltype.endswith(ending):
                    continue
                # Each part counts for itself.
                self._numberings = Numberings(self._numbering_root)
                for block in self._below(parse_xml(relation.target_part.blob)):
                    # Sections repeat their headers.
                    if ending in _NOTES or block.text not in seen:
                        seen.add(block.text)
                        yield block

    def _below(self, root: etree._Element) -> Iterator[Block]:
        items: list[str] = []
        for element in _flow(root):
            style = style_of(element, self._styles) if element.tag == PARAGRAPH else Style()
            text = text_of(element) if element.tag == PARAGRAPH else ""
            # A paragraph without text has a number too.
            label = self._numberings.label(style.numbering, style.depth)
            if text and style.numbering and not style.level:
                items.append(f"{'  ' * style.depth}{label or '-'} {' '.join(text.split())}")
            elif items and (text or element.tag == TABLE):
                yield Block(BlockKind.LIST, tuple(items))
                items = []
            if element.tag == TABLE:
                yield from self._table(element)
            elif text and style.level:
                yield heading(f"{label} {text}", style.level)
            elif text and not style.numbering and not style.contents:
                yield paragraph(text)
            for box in text_boxes_of(element) if element.tag == PARAGRAPH else ():
                yield from self._below(box)
        if items:
            yield Block(BlockKind.LIST, tuple(items))

    def _table(self, table: etree._Element) -> Iterator[Block]:
        rows = [[self._cell(cell) for cell in _own(row, CELL)] for row in _own(table, ROW)]
        self._cell_count += sum(map(len, rows))
        if self._cell_count > self._limits.cells:
            raise over_limit(f"the document's tables hold more than {self._limits.cells} cells")
        if max((len(row) for row in rows), default=0) == 1:
            # A table of one column is a frame around text.
            for row in _own(table, ROW):
                for cell in _own(row, CELL):
                    yield from self._below(cell)
            return
        block = table_block(rows, has_header=len(rows) > 1 and all(rows[0]))
        if block is not None:
            yield block

    def _cell(self, cell: etree._Element) -> str:
        return " ".join(text for block in self._below(cell) for text in block.text.split("\n"))


def _flow(root: etree._Element) -> Iterator[etree._Element]:
    """Yields paragraphs and tables below an element in order, whatever is wrapped round them."""
    for child in root.iterchildren():
        if child.tag in {PARAGRAPH, TABLE}:
            yield child
        else:
            yield from _flow(child)


def _own(root: etree._Element, tag: str) -> Iterator[etree._Element]:
    """Yields the rows of a table, or the cells of a row, but not those of tables inside them."""
    for child in root.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag not in {PARAGRAPH, TABLE, ROW, CELL}:
            yield from _own(child, tag)


def _numbering_root(document: WordDocument) -> etree._Element | None:
    for relation in document.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(_NUMBERING):
            return parse_xml(relation.target_part.blob)
    return None


def _styles(document: WordDocument) -> Mapping[str, Style]:
    try:
        return styles_from(document.part.styles.element)
    except KeyError:
        return {}
