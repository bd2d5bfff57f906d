"""What the movers count."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Gauge

from chassis.metrics import Metrics


class MoverMetrics:
    """Passages that wait, that were moved, and rounds that failed."""

    def __init__(self, metrics: Metrics) -> None:
        self.awaiting = Gauge(
            "ingestion_awaiting_passages",
            "Passages that the preferred space of their workspace lacks, at the last look.",
            registry=metrics.registry,
        )
        self.moved = Counter(
            "ingestion_moved_passages",
            "Passages that were brought to the preferred space of their workspace.",
            registry=metrics.registry,
        )
        self.refused = Counter(
            "ingestion_unmovable_passages",
            "Passages that the model of the preferred space could not embed.",
            registry=metrics.registry,
        )
        self.failures = Counter(
            "ingestion_mover_failures",
            "Rounds in one workspace that ended before all was moved.",
            ("reason",),
            registry=metrics.registry,
        )


class WindowMetrics:
    """Passages that await windows, that got them, and rounds that failed."""

    def __init__(self, metrics: Metrics) -> None:
        self.awaiting = Gauge(
            "ingestion_passages_awaiting_windows",
            "Passages that await windows in the space that was looked at last.",
            registry=metrics.registry,
        )
        self.made = Counter(
            "ingestion_windowed_passages",
            "Passages that got their windows after they were stored.",
            registry=metrics.registry,
        )
        self.incomplete = Counter(
            "ingestion_incompletely_windowed_passages",
            "Passages that lack windows which the model could not embed.",
            registry=metrics.registry,
        )
        self.failures = Counter(
            "ingestion_window_failures",
            "Rounds in one space that ended before all windows were made.",
            ("reason",),
            registry=metrics.registry,
        )


@cache
def window_metrics_of(metrics: Metrics) -> WindowMetrics:
    """Returns the counters of these metrics, the same each time: a registry takes a name once."""
    return WindowMetrics(metrics)


@cache
def mover_metrics_of(metrics: Metrics) -> MoverMetrics:
    """Returns the counters of these metrics, the same each time: a registry takes a name once."""
    return MoverMetrics(metrics)
