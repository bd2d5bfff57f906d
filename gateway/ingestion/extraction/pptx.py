"""Reads PowerPoint presentations: slide by slide its title, texts and tables, then its notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pptx
from lxml import etree  # type: ignore[import-untyped]
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PackageNotFoundError, PythonPptxError

from gateway.ingestion.extraction.archive import ARCHIVE_ERRORS
from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.office_properties import facts_of
from gateway.ingestion.extraction.refusals import over_limit, unreadable
from gateway.ingestion.extraction.tables import table_block

_NUMBERS = frozenset({PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE})
_DAMAGES = (
    *ARCHIVE_ERRORS,
    PackageNotFoundError,
    PythonPptxError,
    KeyError,
    etree.XMLSyntaxError,
)


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a presentation; a footer that slides repeat is kept once."""
    try:
        slides = pptx.Presentation(str(path)).slides
        if len(slides) > limits.pages:
            raise over_limit(
                f"the presentation has {len(slides)} slides, at most {limits.pages} are read"
            )
        blocks = tuple(_Deck(limits).blocks(slides))
    except _DAMAGES as error:
        raise unreadable("the presentation is damaged and cannot be opened") from error
    return Extraction(blocks, facts_of(path))


class _Deck:
    def __init__(self, limits: ExtractionLimits) -> None:
        self._limits = limits
        self._cell_count = 0
        self._footers: set[str] = set()

    def blocks(self, slides: Iterable[Any]) -> Iterator[Block]:
        """Yields the blocks of all slides in order."""
        for number, slide in enumerate(slides, start=1):
            location = f"slide {number}"
            title = slide.shapes.title
            if title is not None and title.text_frame.text.strip():
                yield heading(title.text_frame.text.replace("\v", " "), 1, location)
            for shape in _flat(slide.shapes):
                if title is None or shape.shape_id != title.shape_id:
                    yield from self._shape(shape, location)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                yield from _text(slide.notes_slide.notes_text_frame, location)
            yield from _comments(slide, location)

    def _shape(self, shape: Any, location: str) -> Iterator[Block]:
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if kind in _NUMBERS:
            return
        if getattr(shape, "has_table", False):
            yield from self._table(shape.table, location)
        elif shape.has_text_frame:
            if kind is PP_PLACEHOLDER.FOOTER:
                if shape.text_frame.text in self._footers:
                    return
                self._footers.add(shape.text_frame.text)
            yield from _text(shape.text_frame, location)

    def _table(self, table: Any, location: str) -> Iterator[Block]:
        self._cell_count += len(table.rows) * len(table.columns)
        if self._cell_count > self._limits.cells:
            raise over_limit(f"the tables hold more than {self._limits.cells} cells")
        rows = [
            ["" if cell.is_spanned else cell.text_frame.text for cell in row.cells]
            for row in table.rows
        ]
        block = table_block(rows, has_header=bool(table.first_row), location=location)
        if block is not None:
            yield block


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yields shapes, those inside groups in place of the groups."""
    pending = list(shapes)[::-1]
    while pending:
        shape = pending.pop()
        if hasattr(shape, "shapes"):
            pending.extend(list(shape.shapes)[::-1])
        else:
            yield shape


def _text(frame: Any, location: str) -> Iterator[Block]:
    """Yields the paragraphs of a text frame: one alone as a paragraph, several as a list."""
    lines = [
        (min(one.level, 8), " ".join(one.text.split()))
        for one in frame.paragraphs
        if one.text.strip()
    ]
    if len(lines) == 1:
        yield paragraph(lines[0][1], location)
    elif lines:
        items = tuple(f"{'  ' * level}- {text}" for level, text in lines)
        yield Block(BlockKind.LIST, items, location=location)


def _comments(slide: Any, location: str) -> Iterator[Block]:
    for relation in slide.part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/comments"):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        root = etree.fromstring(relation.target_part.blob, parser)
        for text in _comment_texts(root):
            yield paragraph(text, location)


def _comment_texts(root: etree._Element) -> Sequence[str]:
    """Returns the texts of comments of either format: plain ones, and threads."""
    texts = [element.text or "" for element in root.iter("{*}text")]
    texts += ["".join(t.text or "" for t in p.iter("{*}t")) for p in root.iter("{*}p")]
    return [" ".join(text.split()) for text in texts if text.strip()]
