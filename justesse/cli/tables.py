"""The look that all tables share."""

from collections.abc import Iterable
from datetime import datetime

from rich import box
from rich.console import Console
from rich.table import Table

from justesse.cli.output import plain

NARROW = 72
"""Columns below which what stands side by side elsewhere stands below each other."""


def new_table(width: int | None = None) -> Table:
    """Starts a table with a line under its head and no frame, `width` columns wide if given."""
    return Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", width=width
    )


def fitting(console: Console, table: Table) -> Table:
    """Returns the table; for a narrow terminal the cells of each row below each other, with names.

    Side by side, some of them would be cut or left out.
    """
    if console.width >= NARROW:
        return table
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for position, row in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
        if position:
            grid.add_row()
        for column, cell in zip(table.columns, row, strict=True):
            if cell:
                grid.add_row(column.header, cell)
    return grid


def facts(pairs: Iterable[tuple[str, str]]) -> Table:
    """Draws names and values below each other; a fact without a value is left out."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            grid.add_row(plain(name), plain(value))
    return grid


def moment(value: datetime | None) -> str:
    """Writes a moment in local time, to the second."""
    return value.astimezone().strftime("%Y-%m-%d %H:%M:%S") if value else "-"


def number(value: float | None, decimals: int) -> str:
    """Writes a number, or a dash for none."""
    return "-" if value is None else f"{value:.{decimals}f}"
