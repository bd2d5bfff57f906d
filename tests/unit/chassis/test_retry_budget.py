"""The budget of retries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.retry_budget import RetryBudget


def test_retries_stop_below_half_and_come_back_with_successes() -> None:
    """Ten tokens: the fifth failure in a row is not followed by a retry."""
    budget = RetryBudget()
    for _ in range(4):
        budget.record_failure()
        assert budget.allows_retry
    budget.record_failure()
    assert not budget.allows_retry
    budget.record_success()
    assert budget.allows_retry


def test_a_full_budget_does_not_grow() -> None:
    """A long good time buys no storm of retries later."""
    budget = RetryBudget()
    for _ in range(10_000):
        budget.record_success()
    for _ in range(5):
        budget.record_failure()
    assert not budget.allows_retry


@given(st.lists(st.booleans(), max_size=60))
def test_the_tokens_stay_within_their_bounds(outcomes: list[bool]) -> None:
    """After any history, 51 successes allow retries and 5 failures more forbid them."""
    budget = RetryBudget()
    for success in outcomes:
        budget.record_success() if success else budget.record_failure()
    for _ in range(51):
        budget.record_success()
    assert budget.allows_retry
    for _ in range(10):
        budget.record_failure()
    assert not budget.allows_retry


@pytest.mark.parametrize(("tokens", "ratio"), [(0.0, 0.1), (10.0, 0.0), (-1.0, 0.1)])
def test_senseless_budgets_are_refused(tokens: float, ratio: float) -> None:
    """They would forbid or allow everything for ever."""
    with pytest.raises(ValueError, match="greater than 0"):
        RetryBudget(max_tokens=tokens, per_success=ratio)
