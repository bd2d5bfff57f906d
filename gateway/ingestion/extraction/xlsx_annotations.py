"""What Excel sheets say beside their cells: comments, text boxes, page headers and footers."""

from __future__ import annotations

import html
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped]

from gateway.ingestion.extraction.archive import ARCHIVE_ERRORS
from gateway.ingestion.extraction.blocks import Block, paragraph

_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"
_LARGEST_PART = 16 * 1024 * 1024
# Headers and footers stand behind the cells, which may take many megabytes.
_TAIL_BYTES = 64 * 1024
_MARGIN = re.compile(
    r"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)\b[^>]*>(.*?)</(?:\w+:)?(?:odd|even|first)",
    re.DOTALL,
)
_SECTION = re.compile("&[LCR]")
_FIELD = re.compile(r'&"[^"]*"|&K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|&\d+|&[A-Za-z]')
_LETTERS = re.compile(r"[^\W\d_]{2}")


def annotations_of(path: Path) -> Mapping[str, Sequence[Block]]:
    """Returns blocks by the name of their sheet; damaged parts, and files of the old format, none.

    Fields such as page numbers are left out, and texts that hold no words.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: list(_on_sheet(archive, part, name)) for name, part in _sheets(archive)}
    except (*ARCHIVE_ERRORS, KeyError, etree.XMLSyntaxError):
        return {}


def _on_sheet(archive: zipfile.ZipFile, part: str, sheet: str) -> Iterator[Block]:
    texts: list[str] = []
    for relation, target in _relations(archive, part):
        if relation.endswith(("/comments", "/threadedComment")):
            texts += _texts(_parsed(archive, target), ("comment", "threadedComment"), "")
        elif relation.endswith("/drawing"):
            texts += _texts(_parsed(archive, target), ("txBody",), "p")
    texts += _margins(archive, part)
    for text in dict.fromkeys(texts):
        yield paragraph(text, sheet)


def _sheets(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    parts = {
        element.get("Id"): target
        for element, target in _relation_elements(archive, _WORKBOOK)
        if element.get("Type", "").endswith("/worksheet")
    }
    for element in _parsed(archive, _WORKBOOK).iter("{*}sheet"):
        if element.get(_RELATION_ID) in parts:
            yield element.get("name", ""), parts[element.get(_RELATION_ID)]


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str]]:
    for element, target in _relation_elements(archive, part):
        yield element.get("Type", ""), target


def _relation_elements(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[etree._Element, str]]:
    folder, name = posixpath.split(part)
    listing = f"{folder}/_rels/{name}.rels"
    if listing not in archive.namelist():
        return
    for element in _parsed(archive, listing).iter("{*}Relationship"):
        target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
        yield element, target.lstrip("/")


def _parsed(archive: zipfile.ZipFile, part: str) -> etree._Element:
    # Entities stay unread: they could reach for other files, or grow without end.
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    with archive.open(part) as entry:
        return etree.fromstring(entry.read(_LARGEST_PART), parser)


def _texts(root: etree._Element, owners: Sequence[str], line: str) -> Iterator[str]:
    """Yields the text of each owner, the lines inside it apart."""
    for owner in root.iter(*(f"{{*}}{name}" for name in owners)):
        lines = owner.iter(f"{{*}}{line}") if line else [owner]
        texts = ("".join(t.text or "" for t in one.iter("{*}t", "{*}text")) for one in lines)
        text = "\n".join(words for words in (" ".join(t.split()) for t in texts) if words)
        if _LETTERS.search(text):
            yield text


def _margins(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    tail = b""
    with archive.open(part) as entry:
        while piece := entry.read(1024 * 1024):
            tail = (tail + piece)[-_TAIL_BYTES:]
    for margin in _MARGIN.findall(tail.decode("utf-8", errors="replace")):
        plain = html.unescape(margin).replace("&&", "\0")
        for section in _SECTION.split(plain):
            text = " ".join(_FIELD.sub(" ", section).replace("\0", "&").split())
            if _LETTERS.search(text):
                yield text
