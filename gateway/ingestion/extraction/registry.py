"""Which files are read, and by which extractor.

An extractor is a module with a function `extract(path, limits) -> Extraction`. Where that may name
image pages, it has another, `page_image(path, number, limits) -> bytes`. It is imported when its
first file comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import cast

from gateway.ingestion.extraction import ocr
from gateway.ingestion.extraction.blocks import Extraction, paragraph
from gateway.ingestion.extraction.content import Content, check_content
from gateway.ingestion.extraction.legibility import legible
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason, over_limit
from gateway.ingestion.extraction.word_division import undivided

EXTRACTOR_VERSION = "4"
"""Grows when the same file would give other blocks than before."""

Extractor = Callable[[Path, ExtractionLimits], Extraction]
PageRenderer = Callable[[Path, int, ExtractionLimits], bytes]

_BLANK_LINES = re.compile(r"\n\s*\n|\f")
_LETTERS = re.compile(r"[^\W_]{2}")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file: the endings of its name, what it must hold, the module that reads it."""

    suffixes: tuple[str, ...]
    content: Content
    module: str


FORMATS = (
    FileFormat((".md", ".markdown"), Content.TEXT, "markdown"),
    FileFormat((".txt", ".text"), Content.TEXT, "text"),
    FileFormat((".html", ".htm", ".xhtml"), Content.TEXT, "html"),
    FileFormat((".pdf",), Content.PDF, "pdf"),
    FileFormat((".docx",), Content.WORD, "docx"),
    FileFormat((".xlsx", ".xlsm"), Content.EXCEL, "xlsx"),
    FileFormat((".xls",), Content.OLD_EXCEL, "xlsx"),
    FileFormat((".pptx",), Content.POWERPOINT, "pptx"),
    FileFormat((".csv", ".tsv"), Content.TEXT, "csv"),
    FileFormat(
        (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".webp", ".bmp"), Content.IMAGE, "image"
    ),
)
_BY_SUFFIX = {suffix: kind for kind in FORMATS for suffix in kind.suffixes}


def suffix_of(file_name: str) -> str:
    """Returns the ending of a file's name in lower case; refuses endings that are not read."""
    suffix = PurePosixPath(file_name.replace("\\", "/")).suffix.lower()
    if suffix not in _BY_SUFFIX:
        named = f"files ending in {suffix!r}" if suffix else "files without an ending"
        raise FileRefused(
            RefusalReason.UNSUPPORTED_TYPE,
            f"{named} are not read; send one of {', '.join(sorted(_BY_SUFFIX))}",
        )
    return suffix


def extract_file(path: Path, suffix: str, limits: ExtractionLimits) -> Extraction:
    """Reads the file at `path` as the type its `suffix` names.

    Raises FileRefused, for example where the file holds something else or no text at all.
    """
    kind = _BY_SUFFIX[suffix]
    check_content(path, kind.content, limits)
    extraction = legible(cast(Extractor, _module(kind).extract)(path, limits))
    if not extraction.blocks and not extraction.image_pages:
        raise FileRefused(
            RefusalReason.NO_TEXT, "; ".join(("the file holds no text", *extraction.warnings))
        )
    if sum(len(block.text) for block in extraction.blocks) > limits.characters:
        raise over_limit(f"the file holds more than {limits.characters} characters of text")
    return extraction


def extract_image_page(
    path: Path, suffix: str, number: int, limits: ExtractionLimits
) -> Extraction:
    """Reads the image of page `number`, from 1, of a file that `extract_file` has read.

    Raises FileRefused where it cannot; no blocks mean an image without text.
    """
    renderer = cast(PageRenderer, _module(_BY_SUFFIX[suffix]).page_image)
    text = ocr.text_in(renderer(path, number, limits), limits)
    pieces = [piece.strip() for piece in _BLANK_LINES.split(text) if _LETTERS.search(piece)]
    blocks = (paragraph(piece, f"page {number}") for piece in undivided(pieces))
    return legible(Extraction(tuple(blocks)))


def _module(kind: FileFormat) -> ModuleType:
    return import_module(f"gateway.ingestion.extraction.{kind.module}")
