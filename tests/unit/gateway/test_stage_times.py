"""A stage that would hardly be done in time is not begun, and is found when it is fast again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.stage_times import (
    FEWEST_CALLS,
    HEALED_AFTER,
    PROBE_EVERY_S,
    REMEMBERED_CALLS,
    REMEMBERED_S,
    StageTimes,
)
from tests.fakes.clock import FakeClock

durations = st.lists(st.floats(0.0, 10.0), min_size=1, max_size=60)


@settings(derandomize=True, max_examples=200)
@given(durations, st.floats(0.0, 10.0))
def test_a_call_is_made_if_the_95th_percentile_fits(taken: list[float], seconds: float) -> None:
    """Of the last 20 calls, by the nearest rank; ten of them at least."""
    times = StageTimes(FakeClock())
    for duration in taken:
        times.answered("rewrite", duration)
    last = sorted(taken[-REMEMBERED_CALLS:])
    expected = last[math.ceil(0.95 * len(last)) - 1] if len(last) >= FEWEST_CALLS else None

    assert times.p95_s("rewrite") == expected
    # The first call that would not be done finds out whether that is still so.
    assert times.admits("rewrite", seconds)
    assert times.admits("rewrite", seconds) == (expected is None or expected <= seconds)


def test_one_slow_call_of_twenty_drops_nothing_and_two_do() -> None:
    """Stages are told apart."""
    times = StageTimes(FakeClock())
    for duration in [0.1] * 19 + [3.0]:
        times.answered("rewrite", duration)
    assert times.admits("rewrite", 0.2)

    times.answered("rewrite", 3.0)
    assert times.admits("rewrite", 0.2)  # the call that finds out
    assert not times.admits("rewrite", 0.2)
    assert times.admits("rewrite", 3.0)
    assert times.admits("rerank", 0.001)


def test_what_was_given_up_counts_twice_what_it_waited() -> None:
    """So that equal callers do not wait in vain again, and patient ones still wait."""
    times = StageTimes(FakeClock())
    for _ in range(FEWEST_CALLS):
        times.given_up("rewrite", 1.0)

    assert times.admits("rewrite", 1.0)
    assert not times.admits("rewrite", 1.0)
    assert not times.admits("rewrite", 1.9)
    assert times.admits("rewrite", 2.0)


async def test_a_stage_that_is_fast_again_comes_back_by_a_probe() -> None:
    """One call every five seconds; the first that is answered fast ends the pause."""
    clock = FakeClock()
    times = StageTimes(clock)
    for _ in range(REMEMBERED_CALLS):
        times.given_up("rewrite", 1.0)
    made = [times.admits("rewrite", 1.0) for _ in range(5)]
    times.given_up("rewrite", 1.0)
    await clock.advance(PROBE_EVERY_S)
    made += [times.admits("rewrite", 1.0) for _ in range(5)]
    assert made == [True, *[False] * 4] * 2

    times.answered("rewrite", 0.1)
    assert all(times.admits("rewrite", 1.0) for _ in range(5))


def test_answers_to_patient_callers_bring_a_stage_back_too() -> None:
    """Three in a row: what was given up before says nothing of the stage any more."""
    times = StageTimes(FakeClock())
    for _ in range(REMEMBERED_CALLS):
        times.given_up("rewrite", 1.0)
    for _ in range(HEALED_AFTER - 1):
        times.answered("rewrite", 0.1)
    times.given_up("rewrite", 1.0)
    assert times.p95_s("rewrite") == 2.0

    for _ in range(HEALED_AFTER):
        times.answered("rewrite", 0.1)
    assert all(times.admits("rewrite", 0.5) for _ in range(5))


async def test_what_is_over_a_minute_old_says_nothing() -> None:
    """A stage that nobody asked for a while is asked again by everybody."""
    clock = FakeClock()
    times = StageTimes(clock)
    for _ in range(REMEMBERED_CALLS):
        times.answered("rewrite", 5.0)
    assert times.p95_s("rewrite") == 5.0
    await clock.advance(REMEMBERED_S + 0.1)

    assert times.p95_s("rewrite") is None
    assert all(times.admits("rewrite", 0.1) for _ in range(3))


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 10), st.floats(0, 30)), max_size=200))
def test_memory_is_bounded_and_every_stage_is_tried_again(
    steps: list[tuple[bool, float, float]],
) -> None:
    """Whatever happens, a call is made at the latest five seconds after the last one."""
    clock = FakeClock()
    times = StageTimes(clock)
    refused_since: float | None = None
    for late, duration, pause in steps:
        if times.admits("s", 0.5):
            refused_since = None
            (times.given_up if late else times.answered)("s", duration)
        else:
            refused_since = clock.now if refused_since is None else refused_since
            assert clock.now - refused_since < PROBE_EVERY_S
        clock.now += pause
    assert len(times._stages.get("s", _Nothing()).calls) <= REMEMBERED_CALLS


class _Nothing:
    calls: tuple[()] = ()


@pytest.mark.parametrize("stage", ["rewrite", "embed", "rerank"])
def test_nothing_is_known_of_a_stage_at_the_start(stage: str) -> None:
    """It is begun in whatever time there is."""
    assert StageTimes().admits(stage, 0.002)
    assert StageTimes().p95_s(stage) is None
