"""What operators see of the stages of searches and answers."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter

from gateway.receipt import StageReport


class StageMetrics:
    """Counts the stages of receipts by how they ended and why."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._stages = Counter(
            "justesse_stages",
            "Stages of searches and answers by outcome and reason, as in receipts.",
            ("stage", "outcome", "reason"),
            registry=registry,
        )

    def count(self, reports: Iterable[StageReport]) -> None:
        """Counts the stages of one receipt."""
        for report in reports:
            self._stages.labels(report.stage, report.outcome.value, report.reason).inc()
