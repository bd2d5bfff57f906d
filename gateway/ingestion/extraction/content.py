"""Tells what a file holds by its first bytes, whatever it is called."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from gateway.ingestion.extraction.archive import check_archive
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import (
    FileRefused,
    RefusalReason,
    password_protected,
    unreadable,
)

_HEAD_BYTES = 4096
_PDF_HEAD_BYTES = 1024
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_WORKBOOK_STREAMS = tuple(f"{name}\0".encode("utf-16-le") for name in ("Workbook", "Book"))


class Content(Enum):
    """Kinds of content, named as a person would."""

    TEXT = "text"
    PDF = "a PDF document"
    WORD = "a Word document"
    EXCEL = "an Excel workbook"
    OLD_EXCEL = "an Excel workbook of the old format"
    POWERPOINT = "a PowerPoint presentation"
    ARCHIVE = "an archive"
    OLD_OFFICE = "a file of an old Office version"
    IMAGE = "an image"
    RTF = "an RTF document"
    BINARY = "binary data"


_SIGNATURES = (
    (b"\x89PNG", Content.IMAGE),
    (b"\xff\xd8\xff", Content.IMAGE),
    (b"GIF8", Content.IMAGE),
    (b"II*\x00", Content.IMAGE),
    (b"MM\x00*", Content.IMAGE),
    (b"BM", Content.IMAGE),
    (b"{\\rtf", Content.RTF),
    (b"\x1f\x8b", Content.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", Content.ARCHIVE),
    (b"Rar!", Content.ARCHIVE),
    (b"\x7fELF", Content.BINARY),
)
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_MOST_ZERO_BYTES = 0.6
_STRAY_ZERO_BYTES = 0.02


def check_content(path: Path, expected: Content, limits: ExtractionLimits) -> None:
    """Refuses a file that does not hold what its name promises, or holds it under a password."""
    found = content_of(path, limits)
    if found is expected:
        return
    # A Word or Excel file cut off at its very start has lost its signature.
    if found is Content.BINARY and expected is not Content.TEXT:
        raise unreadable(f"the file is damaged: it does not begin like {expected.value}")
    raise FileRefused(
        RefusalReason.TYPE_MISMATCH,
        f"the name promises {expected.value}, but the file holds {found.value}",
    )


def content_of(path: Path, limits: ExtractionLimits) -> Content:
    """Recognises the content of a file; raises FileRefused for archives that are refused."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if b"%PDF-" in head[:_PDF_HEAD_BYTES]:
        return Content.PDF
    if head.startswith(b"PK\x03\x04"):
        return _zip_content(check_archive(path, limits))
    if head.startswith(_COMPOUND_FILE):
        return _compound_content(path.read_bytes())
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return Content.IMAGE
    for signature, content in _SIGNATURES:
        if head.startswith(signature):
            return content
    return Content.TEXT if _looks_like_text(head) else Content.BINARY


def _compound_content(data: bytes) -> Content:
    """Tells files of old Office versions, and encrypted new ones, apart by their streams."""
    if _ENCRYPTED_PACKAGE in data:
        raise password_protected("the file is protected by a password; save it without one")
    is_workbook = any(name in data for name in _WORKBOOK_STREAMS)
    return Content.OLD_EXCEL if is_workbook else Content.OLD_OFFICE


def _zip_content(names: frozenset[str]) -> Content:
    if "[Content_Types].xml" in names:
        if any(name.startswith("word/") for name in names):
            return Content.WORD
        if any(name.startswith("xl/") for name in names):
            return Content.EXCEL
        if any(name.startswith("ppt/") for name in names):
            return Content.POWERPOINT
    return Content.ARCHIVE


def _looks_like_text(head: bytes) -> bool:
    """Accepts stray zero bytes, and those of UTF-16 of mostly Latin text."""
    if head.startswith(_UNICODE_MARKS) or head.count(0) <= _STRAY_ZERO_BYTES * len(head):
        return True
    shares = sorted(half.count(0) / max(len(half), 1) for half in (head[::2], head[1::2]))
    return shares[0] < _STRAY_ZERO_BYTES and shares[1] > _MOST_ZERO_BYTES
