"""The tables of measured performance."""

import ast
from pathlib import Path

import pytest

from benchmarks import growth_table
from benchmarks.goals import Goal
from benchmarks.performance_table import (
    ALL_GOALS,
    PAGE,
    README,
    page_with_results,
    readme_with_results,
)
from benchmarks.results import figures_of

PEERS = {"qdrant_edge", "chromadb", "lancedb", "pymilvus", "pyarrow"}


def test_the_page_shows_what_was_measured() -> None:
    """Every number of its tables equals that of the kept results."""
    page = PAGE.read_text()

    assert page_with_results(page) == page


def test_the_readme_shows_what_was_measured() -> None:
    """Every ratio of its table equals that of the kept results, and the table is not empty."""
    readme = README.read_text()
    table = readme.partition("<!-- ratios -->")[2].partition("<!-- end of ratios -->")[0]

    assert readme_with_results(readme) == readme
    assert table.count("\n| ") > 5


def test_the_page_of_scale_shows_what_was_measured() -> None:
    """Every number of its table equals that of the kept result, and none is missing."""
    page = growth_table.PAGE.read_text()
    table = page.partition(growth_table.FIRST)[2].partition(growth_table.LAST)[0]

    assert growth_table.page_with_growth(page) == page
    assert "not measured" not in table


@pytest.mark.parametrize(
    "goal",
    [goal for goal in ALL_GOALS if figures_of(goal.benchmark)],
    ids=lambda goal: goal.what,
)
def test_every_goal_names_a_measured_figure(goal: Goal) -> None:
    """No goal is lost because a figure was renamed; a peer not installed is there as null."""
    assert goal.figure in figures_of(goal.benchmark)


@pytest.mark.parametrize(
    ("goal", "measured", "reached"),
    [
        (Goal("", "", "", at_least=0.85), 0.85, True),
        (Goal("", "", "", at_least=0.85), 0.84, False),
        (Goal("", "", "", at_most=1.5), 1.5, True),
        (Goal("", "", "", at_most=1.5), 1.51, False),
        (Goal("", "", ""), 0.0, None),
    ],
)
def test_a_bound_is_kept_or_not(goal: Goal, measured: float, reached: bool | None) -> None:
    """The bound itself is within it."""
    assert goal.reached(measured) is reached


def test_peers_are_only_imported_by_their_own_modules() -> None:
    """Whoever has not installed the peers can run every other benchmark."""
    root = Path(__file__).resolve().parents[3] / "benchmarks"
    for path in root.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            assert not {name.split(".")[0] for name in names} & PEERS, path.name
