"""Counts rankings, what failed on the way to them, and what the models took and cost."""

from functools import cache

from prometheus_client import Counter

from chassis.errors import ServiceError
from chassis.metrics import Metrics
from reranker_svc.bill import Charge
from reranker_svc.implementation import Implementation
from reranker_svc.reranking import StageReport


class Usage:
    """Counters by provider and model."""

    def __init__(self, metrics: Metrics) -> None:
        self._rankings = Counter(
            "reranker_rankings",
            "Rankings by who sorted and how the stage ended.",
            ("provider", "model", "outcome"),
            registry=metrics.registry,
        )
        self._failures = Counter(
            "reranker_failures",
            "Implementations that were asked and could not sort.",
            ("implementation", "reason"),
            registry=metrics.registry,
        )
        self._tokens = Counter(
            "reranker_tokens",
            "Tokens read (input) and written (output) by reranking models.",
            ("provider", "model", "direction"),
            registry=metrics.registry,
        )
        self._cost = Counter(
            "reranker_cost",
            "Cost of reranking, in units of the currency.",
            ("provider", "model", "currency"),
            registry=metrics.registry,
        )

    def count(self, report: StageReport) -> None:
        """Counts one ranking."""
        self._rankings.labels(report.provider, report.model, report.outcome.value).inc()

    def count_charge(self, charge: Charge) -> None:
        """Counts what one answer of a model took, whether or not it was of use."""
        who = (charge.provider, charge.model)
        if charge.input_token_count:
            self._tokens.labels(*who, "input").inc(charge.input_token_count)
        if charge.output_token_count:
            self._tokens.labels(*who, "output").inc(charge.output_token_count)
        if charge.cost:
            self._cost.labels(*who, charge.currency).inc(charge.cost)

    def count_failure(self, implementation: Implementation, error: ServiceError) -> None:
        """Counts one implementation that could not sort."""
        self._failures.labels(implementation.value, error.reason).inc()


@cache
def usage_of(metrics: Metrics) -> Usage:
    """Returns the counters of these metrics, the same each time: a registry takes a name once."""
    return Usage(metrics)
