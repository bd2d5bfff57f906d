"""Counts what became of queries: whose wording they are searched with, and why."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter

from chassis.metrics import Metrics
from rewriter_svc.rewriting import Rewrite


class RewriteUsage:
    """A counter by origin, outcome and reason; tokens and costs are counted by the chat models."""

    def __init__(self, metrics: Metrics) -> None:
        self._queries = Counter(
            "rewriter_queries",
            "Queries by where their wording comes from, how the stage ended, and why.",
            ("origin", "outcome", "reason"),
            registry=metrics.registry,
        )

    def count(self, rewrite: Rewrite) -> None:
        """Counts one answer."""
        report = rewrite.report
        self._queries.labels(rewrite.origin.value, report.outcome.value, report.reason).inc()


@cache
def usage_of(metrics: Metrics) -> RewriteUsage:
    """Returns the counter of these metrics, the same each time: a registry takes a name once."""
    return RewriteUsage(metrics)
