"""Tables as Markdown rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from gateway.ingestion.extraction.blocks import Block, BlockKind, paragraph

Row = Sequence[str]

_LONGEST_HEADER_CELL = 80


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


def tables_in(rows: Iterable[Row], location: str = "") -> Iterator[Block]:
    """Yields the runs of rows between empty rows, each as a table or lines of text.

    Rows of one value above a table are lines of text. The first row of a table is its header if it
    names every column in few words, each differently.
    """
    run: list[Row] = []
    for row in rows:
        if any(cell.strip() for cell in row):
            run.append(row)
        elif run:
            yield from _run(run, location)
            run = []
    if run:
        yield from _run(run, location)


def _run(rows: Sequence[Row], location: str) -> Iterator[Block]:
    table = list(dropwhile(lambda row: sum(map(bool, row)) == 1, rows))
    for row in rows[: len(rows) - len(table)]:
        yield paragraph("".join(row), location)
    block = table_block(table, has_header=bool(table) and _is_header(table), location=location)
    if block is not None:
        yield block


def _is_header(rows: Sequence[Row]) -> bool:
    width = max(map(len, rows))
    used = [c for c in range(width) if any(c < len(row) and row[c].strip() for row in rows)]
    names = [rows[0][column].strip() if column < len(rows[0]) else "" for column in used]
    return (
        all(name and len(name) <= _LONGEST_HEADER_CELL for name in names)
        and not any(_is_number(name) for name in names)
        and len(set(names)) == len(names)
    )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"
