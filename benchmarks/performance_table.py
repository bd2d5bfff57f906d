"""Writes the kept results into docs/performance.md, docs/scale.md and README.md.

`python -m benchmarks.performance_table`; `python -m benchmarks` does it as well.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.goals import GOALS, Goal
from benchmarks.growth_table import write_growth
from benchmarks.mesh_goals import MESH_GOALS
from benchmarks.readme_goals import README_GOALS
from benchmarks.results import figures_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"
ALL_GOALS: Sequence[Goal] = (*MESH_GOALS, *GOALS)
_HEAD = (
    "| what | goal | measured | lowest to highest round | reached | benchmark |",
    "|---|---|---|---|---|---|",
)
_README_HEAD = ("| what | goal | measured | benchmark |", "|---|---|---|---|")


def page_with_results(page: str) -> str:
    """Returns docs/performance.md with the tables as the kept results have them."""
    page = _between(page, "mesh results", "\n".join((*_HEAD, *map(_line, MESH_GOALS))))
    return _between(page, "results", "\n".join((*_HEAD, *map(_line, GOALS))))


def readme_with_results(readme: str) -> str:
    """Returns README.md with its table of ratios as the kept results have it."""
    return _between(readme, "ratios", "\n".join((*_README_HEAD, *map(_readme_line, README_GOALS))))


def write_tables() -> None:
    """Writes all tables anew."""
    PAGE.write_text(page_with_results(PAGE.read_text()))
    README.write_text(readme_with_results(README.read_text()))
    write_growth()


def _between(page: str, name: str, table: str) -> str:
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.split(first)
    _, after = rest.split(last)
    return f"{before}{first}{table}\n{last}{after}"


def _line(goal: Goal) -> str:
    figures = figures_of(goal.benchmark)
    measured = figures.get(goal.figure)
    span, reached = "", ""
    if measured is not None:
        verdict = goal.reached(measured)
        reached = "" if verdict is None else "yes" if verdict else "**no**"
        lowest = figures.get(f"{goal.figure}, lowest round")
        highest = figures.get(f"{goal.figure}, highest round")
        if lowest is not None and highest is not None:
            span = f"{_number(lowest)} to {_number(highest)}"
    cells = (goal.what, goal.bound, _shown(measured), span, reached, f"`{goal.benchmark}`")
    return f"| {' | '.join(cells)} |"


def _readme_line(goal: Goal) -> str:
    measured = figures_of(goal.benchmark).get(goal.figure)
    cells = (goal.what, goal.bound, _shown(measured), f"`{goal.benchmark}`")
    return f"| {' | '.join(cells)} |"


def _shown(measured: float | None) -> str:
    return "not measured" if measured is None else _number(measured)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    write_tables()
