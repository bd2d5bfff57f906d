"""What operators see of circuit breakers."""

from __future__ import annotations

from functools import cache

from prometheus_client import Gauge

from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.metrics import Metrics


class BreakerMetrics:
    """Which breakers keep calls away."""

    def __init__(self, metrics: Metrics) -> None:
        self._open = Gauge(
            "circuit_breaker_open",
            "1 while the breaker of a vendor or model keeps calls away, 0 otherwise.",
            ("name",),
            registry=metrics.registry,
        )

    def watch(self, breaker: CircuitBreaker) -> CircuitBreaker:
        """Shows the state of this breaker whenever the metrics are read, and returns it."""
        state = self._open.labels(breaker.name)
        state.set_function(lambda: float(breaker.state is not BreakerState.CLOSED))
        return breaker


@cache
def breaker_metrics_of(metrics: Metrics) -> BreakerMetrics:
    """Returns those of these metrics, the same each time: a registry takes a name once."""
    return BreakerMetrics(metrics)
