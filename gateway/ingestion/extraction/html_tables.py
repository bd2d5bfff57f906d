"""Tables of HTML pages: which hold data, and their cells."""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from gateway.ingestion.extraction.blocks import Block
from gateway.ingestion.extraction.html_tree import has_inside, inline_text, traverse
from gateway.ingestion.extraction.tables import table_block

_WIDEST_SPAN = 100
_ROWS = frozenset({"tr"})
_CELLS = frozenset({"td", "th"})


@dataclass(slots=True)
class _Grid:
    rows: list[list[str]] = field(default_factory=list)
    header_flags: list[bool] = field(default_factory=list)
    # Text and remaining rows of cells that reach down from rows above, by column.
    reaching: dict[int, tuple[str, int]] = field(default_factory=dict)


def holds_data(table: LexborNode) -> bool:
    """Tells a table of data from one that only arranges the page."""
    if has_inside(table, "table") or has_inside(table, "h1, h2, h3, h4, h5, h6, pre"):
        return False
    rows = table.css("tr")
    return len(rows) > 1 and any(len(row.css("td, th")) > 1 for row in rows)


def table_from(table: LexborNode) -> Block | None:
    """Reads a table of data; a cell that spans several rows stands in each of them."""
    grid = _Grid()

    def enter(node: LexborNode) -> bool:
        if node.tag in _ROWS:
            _add_row(grid, node)
            return False
        return node.tag != "caption"

    traverse(table, enter)
    has_header = bool(grid.header_flags) and grid.header_flags[0]
    return table_block(grid.rows, has_header=has_header)


def caption_of(table: LexborNode) -> str:
    """Returns the table's caption; empty where there is none."""
    caption = table.css_first("caption")
    return inline_text(caption) if caption is not None else ""


def _add_row(grid: _Grid, row: LexborNode) -> None:
    texts: list[str] = []
    cells: list[LexborNode] = []

    def enter(node: LexborNode) -> bool:
        if node.tag in _CELLS:
            cells.append(node)
            return False
        return True

    traverse(row, enter)
    reaching: dict[int, tuple[str, int]] = {}

    def fill() -> None:
        while len(texts) in grid.reaching:
            text, remaining = grid.reaching.pop(len(texts))
            if remaining > 1:
                reaching[len(texts)] = (text, remaining - 1)
            texts.append(text)

    for cell in cells:
        fill()
        text, down = inline_text(cell), _span(cell, "rowspan")
        for extra in range(_span(cell, "colspan")):
            shown = text if extra == 0 else ""
            if down > 1:
                reaching[len(texts)] = (shown, down - 1)
            texts.append(shown)
    fill()
    grid.reaching = reaching
    grid.rows.append(texts)
    in_head = row.parent is not None and row.parent.tag == "thead"
    grid.header_flags.append(in_head or (bool(cells) and all(c.tag == "th" for c in cells)))


def _span(cell: LexborNode, attribute: str) -> int:
    text = (cell.attributes.get(attribute) or "").strip()
    return min(max(int(text), 1), _WIDEST_SPAN) if text.isascii() and text.isdigit() else 1
