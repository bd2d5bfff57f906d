"""What Word and Excel files say of themselves."""

from __future__ import annotations

import zipfile
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped]

from gateway.ingestion.extraction.archive import ARCHIVE_ERRORS
from gateway.ingestion.extraction.blocks import FileFacts
from gateway.ingestion.extraction.fact_values import keywords_from

_PROPERTIES = "docProps/core.xml"
_LARGEST = 1024 * 1024


def facts_of(path: Path) -> FileFacts:
    """Reads the core properties of an Office file; damaged or missing ones say nothing."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_PROPERTIES) as entry:
            # Entities stay unread: they could reach for other files, or grow without end.
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            root = etree.fromstring(entry.read(_LARGEST), parser)
    except (*ARCHIVE_ERRORS, KeyError, etree.XMLSyntaxError):
        return FileFacts()
    stated = {
        etree.QName(element).localname: " ".join("".join(element.itertext()).split())
        for element in root.iterchildren("*")
    }
    return FileFacts(
        title=stated.get("title", ""),
        keywords=keywords_from(stated.get("keywords", "")),
        category=stated.get("category", ""),
        language=stated.get("language", ""),
        version=stated.get("version", ""),
    )
