"""Which files are read, and by which extractor.

An extractor is a module with one function, `extract(path, limits) -> Extraction`. It is imported
when its first file comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import cast

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.content import Content, check_content
from gateway.ingestion.extraction.legibility import legible
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason, over_limit

EXTRACTOR_VERSION = "2"
"""Grows when the same file would give other blocks than before."""

Extractor = Callable[[Path, ExtractionLimits], Extraction]


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
    module = import_module(f"gateway.ingestion.extraction.{kind.module}")
    extraction = legible(cast(Extractor, module.extract)(path, limits))
    if not extraction.blocks:
        raise FileRefused(
            RefusalReason.NO_TEXT, "; ".join(("the file holds no text", *extraction.warnings))
        )
    if sum(len(block.text) for block in extraction.blocks) > limits.characters:
        raise over_limit(f"the file holds more than {limits.characters} characters of text")
    return extraction
