"""Reads HTML: headings, paragraphs, lists, tables and code in page order.

Scripts, styles and navigation are left out. A page of which nothing else remains is read with its
navigation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gateway.ingestion.extraction.blocks import (
    Block,
    BlockKind,
    Extraction,
    heading,
    paragraph,
)
from gateway.ingestion.extraction.encoding import decode
from gateway.ingestion.extraction.html_facts import facts_of
from gateway.ingestion.extraction.html_tables import caption_of, holds_data, table_from
from gateway.ingestion.extraction.html_tree import (
    BLOCK_TAGS,
    has_inside,
    inline_text,
    own_text,
    traverse,
)
from gateway.ingestion.extraction.limits import ExtractionLimits

_NEVER_TEXT = ["script", "style", "template", "noscript", "svg", "iframe", "object", "canvas"]
_NAVIGATION = "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], [hidden]"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"ul", "ol"})
_TOO_RICH_FOR_A_LIST = "h1, h2, h3, h4, h5, h6, table, pre"
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_HEAD_BYTES = 4096


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Reads an HTML file."""
    data = path.read_bytes()
    charset = _CHARSET.search(data[:_HEAD_BYTES])
    text, warnings = decode(data, charset.group(1).decode("ascii") if charset else "")
    tree = LexborHTMLParser(text)
    facts = facts_of(tree)
    blocks = _page_blocks(tree)
    if not blocks:
        blocks = _page_blocks(LexborHTMLParser(text), with_navigation=True)
    return Extraction(tuple(blocks), facts, warnings)


def blocks_of(fragment: str) -> list[Block]:
    """Returns the blocks of a piece of HTML."""
    return _page_blocks(LexborHTMLParser(fragment), with_navigation=True)


def _page_blocks(tree: LexborHTMLParser, *, with_navigation: bool = False) -> list[Block]:
    tree.strip_tags(_NEVER_TEXT)
    if not with_navigation:
        for node in tree.css(_NAVIGATION):
            node.decompose()
    body = tree.body
    return _Page().read(body) if body is not None else []


class _Page:
    """Collects blocks while it walks; text outside headings, lists and tables is gathered."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._gathered: list[str] = []

    def read(self, body: LexborNode) -> list[Block]:
        """Returns the blocks below `body`."""
        traverse(body, self._enter, self._leave)
        self._flush()
        return self._blocks

    def _enter(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        if tag in _HEADINGS:
            return self._add(*(heading(text, int(tag[1])) for text in _texts(inline_text(node))))
        if tag == "pre":
            return self._add(*_code(node))
        if tag == "table" and holds_data(node):
            return self._add(*_table(node))
        if tag in _LISTS and not has_inside(node, _TOO_RICH_FOR_A_LIST):
            items = tuple(_items(node))
            return self._add(*([Block(BlockKind.LIST, items)] if items else []))
        if tag in BLOCK_TAGS:
            self._flush()
        else:
            self._gathered.append("\n" if tag == "br" else own_text(node))
        return True

    def _leave(self, node: LexborNode) -> None:
        if node.tag in BLOCK_TAGS:
            self._flush()

    def _add(self, *blocks: Block) -> bool:
        self._flush()
        self._blocks.extend(blocks)
        return False

    def _flush(self) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._gathered).split("\n"))
        text = "\n".join(line for line in lines if line)
        self._gathered.clear()
        if text:
            self._blocks.append(paragraph(text))


def _texts(text: str) -> list[str]:
    return [text] if text else []


def _code(pre: LexborNode) -> list[Block]:
    text = pre.text(deep=True).strip("\n")
    if not text.strip():
        return []
    inner = pre.css_first("code")
    classes = " ".join(
        node.attributes.get("class") or "" for node in (pre, inner) if node is not None
    )
    language = re.search(r"\blang(?:uage)?-([\w+#-]+)", classes)
    lines = tuple(line.rstrip() for line in text.split("\n"))
    return [Block(BlockKind.CODE, lines, language=language.group(1) if language else "")]


def _table(node: LexborNode) -> Iterator[Block]:
    yield from (paragraph(text) for text in _texts(caption_of(node)))
    table = table_from(node)
    if table is not None:
        yield table


def _items(root: LexborNode) -> Iterator[str]:
    """Yields the items of a list in Markdown, items of sub-lists indented below theirs."""
    lines: list[tuple[int, str]] = []
    depth = [0]
    counters = [_first_number(root)]

    def enter(node: LexborNode) -> bool:
        if node.tag in _LISTS:
            depth[0] += 1
            counters.append(_first_number(node))
        elif node.tag == "li":
            marker = "-" if counters[-1] is None else f"{counters[-1]}."
            counters[-1] = None if counters[-1] is None else counters[-1] + 1
            lines.append((depth[0], f"{marker} "))
        else:
            level, text = lines.pop() if lines else (0, "")
            lines.append((level, text + own_text(node)))
        return True

    def leave(node: LexborNode) -> None:
        if node.tag in _LISTS:
            depth[0] -= 1
            counters.pop()

    traverse(root, enter, leave)
    for level, text in lines:
        words = " ".join(text.split())
        if words and words != "-":
            yield f"{'  ' * level}{words}"


def _first_number(node: LexborNode) -> int | None:
    return 1 if node.tag == "ol" else None
