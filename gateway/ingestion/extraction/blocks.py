"""What an extractor finds in a file: blocks in reading order, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

MetadataValue = str | float | bool | datetime
"""One typed fact; moments carry a time zone."""


class BlockKind(StrEnum):
    """Kinds of block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a file.

    `parts`, joined by newlines, are its text: rows of a table in Markdown, items of a list, lines
    of code; one part for headings and paragraphs. `header` holds the rows that every piece of a
    divided table repeats; it stands before `parts` and is empty where there is none. `level` is 1
    to 6 for headings, 0 for all others. `location` names the page or sheet in words. `language` is
    the programming language of code, empty where unknown.
    """

    kind: BlockKind
    parts: tuple[str, ...]
    level: int = 0
    location: str = ""
    header: tuple[str, ...] = ()
    language: str = ""

    @property
    def text(self) -> str:
        """Header and parts, a line each."""
        return "\n".join((*self.header, *self.parts))


def heading(text: str, level: int, location: str = "") -> Block:
    """Makes a heading on one line; levels outside 1 to 6 are drawn to the nearest."""
    return Block(BlockKind.HEADING, (" ".join(text.split()),), min(max(level, 1), 6), location)


def paragraph(text: str, location: str = "") -> Block:
    """Makes a paragraph."""
    return Block(BlockKind.PARAGRAPH, (text.strip(),), location=location)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file says of itself; empty or None where it says nothing.

    `language` is the file's own tag, for example "fr-CA".
    """

    title: str = ""
    keywords: tuple[str, ...] = ()
    category: str = ""
    language: str = ""
    version: str = ""
    superseded: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything read from a file; `warnings` say in words what was dropped or guessed.

    `image_pages` are the numbers, from 1, of pages whose text is yet to be read in their images.
    """

    blocks: tuple[Block, ...]
    facts: FileFacts = FileFacts()
    warnings: tuple[str, ...] = ()
    image_pages: tuple[int, ...] = ()
