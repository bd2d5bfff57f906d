"""Readable sources of the PDF, DOCX and XLSX documents.

A source is a front matter between two `---` lines, then Markdown: headings, paragraphs, lists and
tables. Emphasis and links are not kept. In the front matter each line is `key: value`; lists and
quoted texts are JSON, which YAML understands too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` is 1 for the outermost."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list; items are plain texts in their order."""

    ordered: bool
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first row is its header, and all rows have the same length."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | ItemList | Table


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """What a binary document is made of."""

    title: str
    keywords: tuple[str, ...]
    category: str
    version: str
    blocks: tuple[Block, ...]


def split_front_matter(text: str) -> tuple[dict[str, str | list[str]], str]:
    """Returns the values of the front matter and the Markdown after it.

    Raises:
        ValueError: the text has no front matter, or a line of it is not `key: value`.
    """
    lines = text.splitlines()
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        raise ValueError("no front matter: begin the file with values between two '---' lines")
    end = lines.index("---", 1)
    values: dict[str, str | list[str]] = {}
    for line in lines[1:end]:
        key, separator, value = line.partition(": ")
        if not separator:
            raise ValueError(f"front matter line {line!r} is not 'key: value'")
        values[key] = json.loads(value) if value[:1] in {'"', "["} else value
    return values, "\n".join(lines[end + 1 :]).strip() + "\n"


def read_source(path: Path) -> DocumentSource:
    """Reads one source.

    Raises:
        ValueError: the front matter lacks a value, or the Markdown holds another kind of block.
    """
    values, markdown = split_front_matter(path.read_text(encoding="utf-8"))
    return DocumentSource(
        title=_text_value(values, "title", path),
        keywords=tuple(values.get("keywords", ())),
        category=_text_value(values, "category", path),
        version=_text_value(values, "version", path),
        blocks=tuple(parse_blocks(markdown)),
    )


def parse_blocks(markdown: str) -> Iterator[Block]:
    """Yields the blocks of a Markdown text in order."""
    tokens = iter(MarkdownIt("commonmark").enable("table").parse(markdown))
    for token in tokens:
        match token.type:
            case "heading_open":
                yield Heading(int(token.tag[1]), _plain_text(next(tokens)))
            case "paragraph_open":
                yield Paragraph(_plain_text(next(tokens)))
            case "bullet_list_open" | "ordered_list_open":
                closing = token.type.replace("open", "close")
                inner = _until(closing, tokens)
                items = tuple(_plain_text(other) for other in inner if other.type == "inline")
                yield ItemList(token.type.startswith("ordered"), items)
            case "table_open":
                yield _table(_until("table_close", tokens))
            case "heading_close" | "paragraph_close":
                pass
            case other:
                raise ValueError(f"Markdown block {other!r} cannot be built; use text or a table")


def _until(closing: str, tokens: Iterator[Token]) -> list[Token]:
    return list(takewhile(lambda token: token.type != closing, tokens))


def _table(tokens: Sequence[Token]) -> Table:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain_text(token))
    return Table(tuple(tuple(row) for row in rows))


def _plain_text(token: Token) -> str:
    return "".join(
        " " if child.type == "softbreak" else child.content for child in token.children or ()
    )


def _text_value(values: Mapping[str, str | list[str]], key: str, path: Path) -> str:
    match values.get(key):
        case str(value):
            return value
        case other:
            raise ValueError(f"{path.name}: front matter {key!r} must be a text, got {other!r}")
