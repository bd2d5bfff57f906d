"""The look that all tables share."""

from collections.abc import Iterable
from datetime import datetime

from rich import box
from rich.table import Table

from justesse.cli.output import plain

NARROW = 72
"""Columns below which what stands side by side elsewhere stands below each other."""


def new_table(width: int | None = None) -> Table:
    """Starts a table with a line under its head and no frame, `width` columns wide if given."""
    return Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", width=width
    )


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
