"""Tables as Markdown rows."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.ingestion.extraction.blocks import Block, BlockKind

Row = Sequence[str]


def table_block(rows: Sequence[Row], *, has_header: bool, location: str = "") -> Block | None:
    """Makes a table of rows of cells; rows and columns without text are left out.

    The first row that is left is the header where `has_header` is set and rows follow it. None
    where no cell holds text.
    """
    texts = [[_cell(cell) for cell in row] for row in rows]
    width = max((len(row) for row in texts), default=0)
    columns = [
        column for column in range(width) if any(column < len(row) and row[column] for row in texts)
    ]
    kept = [
        [row[column] if column < len(row) else "" for column in columns]
        for row in texts
        if any(row)
    ]
    if not kept:
        return None
    lines = tuple(map(_line, kept))
    if not has_header or len(lines) < 2:
        return Block(BlockKind.TABLE, lines, location=location)
    separator = _line(["---"] * len(columns))
    return Block(BlockKind.TABLE, lines[1:], location=location, header=(lines[0], separator))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"
