"""Reads Markdown by the rules of CommonMark, with tables and front matter.

Text keeps its markup: passages are Markdown too. Lines that make no block, such as the targets of
links, are kept as paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from gateway.ingestion.extraction.blocks import (
    Block,
    BlockKind,
    Extraction,
    FileFacts,
    heading,
    paragraph,
)
from gateway.ingestion.extraction.encoding import decode
from gateway.ingestion.extraction.front_matter import (
    FrontMatterError,
    facts_from,
    split_front_matter,
)
from gateway.ingestion.extraction.html import blocks_of
from gateway.ingestion.extraction.limits import ExtractionLimits

_ANCHOR = re.compile(r"\s*\{#[^{}\s]+\}\s*\Z")
_DRAWN = frozenset({"hr"})
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_MARKER = re.compile(r"\s*(?:[-*+]|(\d+[.)]))\s+")
# An item of this many characters may be divided between passages.
_LONGEST_CLOSED_ITEM = 1_500


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads a Markdown file."""
    text, warnings = decode(path.read_bytes())
    front_matter, body = split_front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    blocks = list(blocks_in(body))
    facts = FileFacts()
    if front_matter.strip():
        try:
            facts, remarks = facts_from(front_matter)
        except FrontMatterError as mistake:
            remarks = (f"the front matter was kept as text: {mistake}",)
            blocks.insert(0, _code(front_matter, "yaml"))
        warnings = (*warnings, *remarks)
    return Extraction(tuple(blocks), facts, warnings)


def blocks_in(body: str, *, opens_items: bool = True) -> Iterator[Block]:
    """Yields the blocks of Markdown text without front matter, in order.

    With `opens_items` a long list item that holds code gives the blocks inside it, so that code
    stays whole; lists inside such an item stay closed.
    """
    lines = body.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    done = 0
    for index, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        first, last = token.map
        yield from _unclaimed(lines[done:first])
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            items = _items(tokens, index, lines[first:last])
            yield from _list_blocks(items, opens_items=opens_items)
        else:
            yield from _blocks_from(tokens, index, lines[first:last])
        done = last
    yield from _unclaimed(lines[done:])


def _unclaimed(lines: Sequence[str]) -> Iterator[Block]:
    text = "\n".join(lines)
    if text.strip():
        yield paragraph(text)


def _blocks_from(tokens: Sequence[Token], index: int, lines: Sequence[str]) -> Iterator[Block]:
    token = tokens[index]
    if token.type == "heading_open":
        text = _plain(tokens[index + 1])
        if text:
            yield heading(text, int(token.tag[1:]))
    elif token.type in {"fence", "code_block"}:
        if token.content.strip():
            yield _code(token.content, (token.info.split() or [""])[0])
    elif token.type == "html_block":
        yield from blocks_of(token.content)
    elif token.type == "table_open":
        rows = [line.strip() for line in lines if line.strip()]
        yield (
            Block(BlockKind.TABLE, tuple(rows[2:]) or (rows[0],), header=tuple(rows[:2]))
            if len(rows) > 2
            else Block(BlockKind.TABLE, tuple(rows))
        )
    elif token.type not in _DRAWN:
        yield paragraph("\n".join(lines))


def _list_blocks(items: Iterable[str], *, opens_items: bool) -> Iterator[Block]:
    closed: list[str] = []
    for item in items:
        if opens_items and len(item) > _LONGEST_CLOSED_ITEM and _FENCE.search(item):
            if closed:
                yield Block(BlockKind.LIST, tuple(closed))
                closed = []
            yield from blocks_in(_without_marker(item), opens_items=False)
        else:
            closed.append(item)
    if closed:
        yield Block(BlockKind.LIST, tuple(closed))


def _without_marker(item: str) -> str:
    """Returns what a list item holds, moved to the margin; a number stays as text."""
    marker = _MARKER.match(item)
    if marker is None:
        return item
    indent = re.compile(rf"^ {{1,{marker.end()}}}", re.MULTILINE)
    number = marker.group(1)
    return (f"{number[:-1]}\\{number[-1]} " if number else "") + indent.sub(
        "", item[marker.end() :]
    )


def _plain(inline: Token) -> str:
    """Returns the words of a heading without markup, and without the anchor some tools append."""
    pieces = (
        child.content if child.type in {"text", "code_inline", "image"} else " "
        for child in inline.children or ()
        if child.type in {"text", "code_inline", "image", "softbreak", "hardbreak"}
    )
    return _ANCHOR.sub("", " ".join("".join(pieces).split()))


def _items(tokens: Sequence[Token], index: int, lines: Sequence[str]) -> Iterator[str]:
    """Yields the items of a list as written, sub-lists included."""
    start = tokens[index].map
    offset = start[0] if start else 0
    starts = []
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open" and token.map is not None:
            starts.append(token.map[0] - offset)
    for first, last in zip(starts, [*starts[1:], len(lines)], strict=True):
        item = "\n".join(lines[first:last]).rstrip()
        if item.strip():
            yield item


def _code(text: str, language: str) -> Block:
    return Block(BlockKind.CODE, tuple(text.rstrip("\n").split("\n")), language=language)
