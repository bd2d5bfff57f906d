"""Reads PDF: headings and paragraphs of each page, words divided at line ends joined again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2.raw import (  # type: ignore[import-untyped]
    FPDF_ERR_PASSWORD,
    FPDF_ERR_SECURITY,
)

from gateway.ingestion.extraction import ocr
from gateway.ingestion.extraction.blocks import Extraction, FileFacts
from gateway.ingestion.extraction.fact_values import keywords_from
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.page_numbers import number_ranges
from gateway.ingestion.extraction.pdf_layout import blocks_from
from gateway.ingestion.extraction.pdf_lines import Line, lines_of
from gateway.ingestion.extraction.pdf_margins import without_repeated_margins
from gateway.ingestion.extraction.pdf_second_reading import SecondReading, is_odd
from gateway.ingestion.extraction.refusals import over_limit, password_protected, unreadable
from gateway.ingestion.extraction.ruled_lines import as_pgm, without_ruled_lines
from gateway.ingestion.extraction.typesetting import repaired
from gateway.ingestion.extraction.word_division import undivided

_LONGEST_CATEGORY = 60
_PRINT_DOTS = 300
_LONGEST_SIDE = 3_508
_NO_TITLE = re.compile(
    r"(?:untitled|sans titre|microsoft word - ).*|.*\.(?:docx?|indd|pdf|pptx?|xlsx?)\Z",
    re.IGNORECASE,
)


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a PDF file; a page without text is named in a warning."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code in {FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY}:
            raise password_protected(
                "the PDF is protected by a password; save it without one"
            ) from error
        raise unreadable("the PDF is damaged and cannot be opened") from error
    with document:
        page_count = len(document)
        if page_count > limits.pages:
            raise over_limit(f"the PDF has {page_count} pages, at most {limits.pages} are read")
        lines, unread = _lines(document, SecondReading(path), limits)
        facts = _facts(document)
        if len(unread) == page_count:
            raise unreadable("no page of the PDF can be read")
        read = {line.page for line in lines}.union(unread)
        empty = [number for number in range(1, page_count + 1) if number not in read]
        drawn = [number for number in empty if _is_drawn(document, number)]
        blank = sorted(set(empty).difference(drawn))
    lacking = ocr.missing() if drawn else ""
    warnings = [
        *([f"pages that cannot be read: {number_ranges(unread)}"] if unread else []),
        *([f"pages without text: {number_ranges(blank)}"] if blank else []),
        *([_unread_images(drawn, lacking)] if lacking else []),
    ]
    texts = repaired([line.text for line in lines])
    lines = [replace(line, text=text) for line, text in zip(lines, texts, strict=True)]
    blocks = list(blocks_from(without_repeated_margins(lines, page_count)))
    texts = list(undivided(block.text for block in blocks))
    joined = (replace(block, parts=(text,)) for block, text in zip(blocks, texts, strict=True))
    image_pages = () if lacking else tuple(drawn)
    return Extraction(tuple(joined), facts, tuple(warnings), image_pages)


def page_image(path: Path, number: int, limits: ExtractionLimits) -> bytes:
    """Returns page `number`, from 1, as PGM in print resolution; posters as large as A4."""
    try:
        with pypdfium2.PdfDocument(path) as document:
            page = document[number - 1]
            largest = _LONGEST_SIDE / max(*page.get_size(), 1.0)
            bitmap = page.render(scale=min(_PRINT_DOTS / 72, largest), grayscale=True)
            pixels = bitmap.to_numpy().reshape(bitmap.height, bitmap.width)
            return as_pgm(without_ruled_lines(pixels))
    except pypdfium2.PdfiumError as error:
        raise unreadable("the page is damaged and cannot be drawn") from error


def _is_drawn(document: pypdfium2.PdfDocument, number: int) -> bool:
    """Says whether there is anything on a page, from 1, that text could be read in."""
    return next(iter(document[number - 1].get_objects()), None) is not None


def _unread_images(pages: Sequence[int], lacking: str) -> str:
    return (
        f"pages whose text is in images: {number_ranges(pages)}; reading them needs {lacking}, "
        "which is not installed here"
    )


def _lines(
    document: pypdfium2.PdfDocument, second: SecondReading, limits: ExtractionLimits
) -> tuple[list[Line], list[int]]:
    """Returns the lines of all pages, and the numbers, from 1, of pages that cannot be read."""
    lines: list[Line] = []
    unread: list[int] = []
    length = 0
    for number in range(1, len(document) + 1):
        try:
            page = document[number - 1]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            unread.append(number)
            continue
        on_page = list(lines_of(text_page, number))
        text_page.close()
        page.close()
        if is_odd(" ".join(line.text for line in on_page)):
            on_page = second.lines(number) or on_page
        lines.extend(on_page)
        length += sum(len(line.text) for line in on_page)
        if length > limits.characters:
            raise over_limit(f"the PDF holds more than {limits.characters} characters of text")
    return lines, unread


def _facts(document: pypdfium2.PdfDocument) -> FileFacts:
    entries = document.get_metadata_dict(skip_empty=True)
    title = " ".join(entries.get("Title", "").split())
    subject = " ".join(entries.get("Subject", "").split())
    return FileFacts(
        title="" if _NO_TITLE.match(title) else title,
        keywords=keywords_from(entries.get("Keywords", "")),
        # Some write a sentence there.
        category=subject if len(subject) <= _LONGEST_CATEGORY else "",
    )
