"""What operators see of circuit breakers."""

from __future__ import annotations

import pytest

from chassis.breaker_metrics import breaker_metrics_of
from chassis.circuit_breaker import CircuitBreaker
from chassis.metrics import Metrics


def test_a_breaker_shows_that_it_keeps_calls_away() -> None:
    """0 from the start, so that an alert has something to compare with; 1 once it has opened."""
    metrics = Metrics()
    breaker = breaker_metrics_of(metrics).watch(CircuitBreaker("vendor/model", threshold=1))

    def shown() -> float | None:
        return metrics.registry.get_sample_value("circuit_breaker_open", {"name": "vendor/model"})

    assert shown() == 0
    with pytest.raises(OSError, match="gone"), breaker.attempt(lambda _error: True):
        raise OSError("gone")
    assert shown() == 1
