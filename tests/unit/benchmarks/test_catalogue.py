"""The list of benchmarks."""

import pytest

from benchmarks.catalogue import BENCHMARKS, LONGEST_DEFAULT_RUN_S
from benchmarks.goals import Goal
from benchmarks.performance_table import ALL_GOALS
from benchmarks.results import RESULTS, took_s

DEFAULT = [name for name, benchmark in BENCHMARKS.items() if not benchmark.only_when_named]


def test_a_default_run_is_expected_to_take_under_half_an_hour() -> None:
    """What takes longer has to be named."""
    assert sum(BENCHMARKS[name].expected_s for name in DEFAULT) < LONGEST_DEFAULT_RUN_S


def test_the_kept_run_took_under_half_an_hour() -> None:
    """The times that were measured add up to no more, as far as they are known."""
    assert sum(took_s(name) or 0 for name in DEFAULT) < LONGEST_DEFAULT_RUN_S


@pytest.mark.parametrize("goal", ALL_GOALS, ids=lambda goal: goal.what)
def test_every_goal_belongs_to_a_benchmark(goal: Goal) -> None:
    """A row of the tables that nothing measures could never be filled."""
    assert goal.benchmark in BENCHMARKS


def test_every_kept_result_belongs_to_a_benchmark() -> None:
    """The result of a benchmark that is gone goes with it."""
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(BENCHMARKS)
