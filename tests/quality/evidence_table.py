"""The table of docs/quality.md that says how well evidence tells answered questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

RESULT = Path(__file__).parents[2] / "docs" / "quality" / "evidence.json"
DEMO = "demo"
FOREIGN = "demo, questions about something else"

Rates = Mapping[str, Mapping[str, Mapping[str, float]]]


def rows(results: Rates) -> list[str]:
    """Returns the table: a row a set, shares by strictness."""
    balanced, strict = results["balanced"], results["strict"]
    return [
        "| set | answered | kept: balanced / strict | unanswered | refused: balanced / strict |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {found['answered']:.0f} | {_pair('kept', found, strict[name])} "
            f"| {found['unanswered']:.0f} | {_pair('refused', found, strict[name])} |"
            for name, found in balanced.items()
        ),
    ]


def _pair(name: str, one: Mapping[str, float], other: Mapping[str, float]) -> str:
    if one[name] != one[name]:
        return "–"
    return f"{one[name]:.2f} / {other[name]:.2f}"


def kept_rows() -> list[str]:
    """Returns the table of the results that are kept."""
    return rows(json.loads(RESULT.read_text("utf-8")))


def shown_rows(page: str) -> list[str]:
    """Returns the table that a page shows."""
    return page.partition("<!-- evidence -->")[2].partition("<!--")[0].split("\n")[1:-1]
