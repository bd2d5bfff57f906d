"""The table of docs/metrics.md, read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
_SERIES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One row."""

    name: str
    kind: str
    labels: tuple[str, ...]
    unit: str
    processes: tuple[str, ...]
    meaning: str

    @property
    def series(self) -> dict[str, frozenset[str]]:
        """The names that queries may write, with their labels."""
        names = [self.name + suffix for suffix in _SERIES.get(self.kind, ("",))]
        return {
            name: frozenset(self.labels) | ({"le"} if name.endswith("_bucket") else frozenset())
            for name in names
        }


@cache
def metric_table() -> dict[str, MetricRow]:
    """Returns the rows by name."""
    rows = {}
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].startswith("`"):
            name = cells[0].strip("`")
            assert name not in rows, name
            rows[name] = MetricRow(
                name,
                cells[1],
                tuple(re.findall(r"`(\w+)`", cells[2])),
                cells[3],
                tuple(cells[4].split(", ")),
                cells[5],
            )
    return rows
