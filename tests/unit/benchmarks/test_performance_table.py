"""The page of measured performance."""

import ast
import json
from pathlib import Path

import pytest

from benchmarks.goals import GOALS, Goal
from benchmarks.performance_table import PAGE, RESULTS, page_with, table

PEERS = {"qdrant_edge", "chromadb", "lancedb", "pymilvus", "pyarrow"}


def test_the_page_shows_what_was_measured() -> None:
    """Every number of the table equals that of the kept results."""
    page = PAGE.read_text()

    assert page_with(page, table()) == page


@pytest.mark.parametrize(
    "goal",
    [goal for goal in GOALS if (RESULTS / f"{goal.benchmark}.json").exists()],
    ids=lambda goal: goal.what,
)
def test_every_goal_names_a_measured_figure(goal: Goal) -> None:
    """No goal is lost because a figure was renamed; a peer not installed is there as null."""
    figures = json.loads((RESULTS / f"{goal.benchmark}.json").read_text())["figures"]

    assert goal.figure in figures


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
