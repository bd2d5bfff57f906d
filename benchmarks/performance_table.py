"""Writes the kept results into docs/performance.md: `python -m benchmarks.performance_table`."""

import json
from pathlib import Path

from benchmarks.goals import GOALS, Goal

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
_FIRST, _LAST = "<!-- results -->\n", "<!-- end of results -->\n"
_HEAD = (
    "| what | goal | measured | lowest to highest round | reached | benchmark |",
    "|---|---|---|---|---|---|",
)


def table() -> str:
    """Returns the goals beside what was measured, as Markdown."""
    return "\n".join((*_HEAD, *(_line(goal) for goal in GOALS))) + "\n"


def page_with(page: str, results: str) -> str:
    """Returns the page with these results in place of those it has."""
    before, rest = page.split(_FIRST)
    _, after = rest.split(_LAST)
    return before + _FIRST + results + _LAST + after


def _line(goal: Goal) -> str:
    figures = _figures(goal.benchmark)
    measured = figures.get(goal.figure)
    shown, span, reached = "not measured", "", ""
    if measured is not None:
        shown = _number(measured)
        verdict = goal.reached(measured)
        reached = "" if verdict is None else "yes" if verdict else "**no**"
        lowest = figures.get(f"{goal.figure}, lowest round")
        highest = figures.get(f"{goal.figure}, highest round")
        if lowest is not None and highest is not None:
            span = f"{_number(lowest)} to {_number(highest)}"
    cells = (goal.what, goal.bound, shown, span, reached, f"`{goal.benchmark}`")
    return f"| {' | '.join(cells)} |"


def _figures(benchmark: str) -> dict[str, float | None]:
    path = RESULTS / f"{benchmark}.json"
    if not path.exists():
        return {}
    figures: dict[str, float | None] = json.loads(path.read_text())["figures"]
    return figures


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(), table()))
