"""What operators see of admission."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class AdmissionMetrics:
    """Calls let in and sent away, at work and waiting, of one kind of work."""

    def __init__(self, series: AdmissionSeries, kind: str) -> None:
        self.admitted = series.admitted.labels(kind)
        self.at_work = series.at_work.labels(kind)
        self.waiting = series.waiting.labels(kind)
        self.refused = _Refused(series.refused, kind)


class _Refused:
    def __init__(self, counter: Counter, kind: str) -> None:
        self._counter = counter
        self._kind = kind

    def labels(self, reason: str) -> Counter:
        """Returns the counter of one reason."""
        return self._counter.labels(self._kind, reason)


class AdmissionSeries:
    """The series of all kinds: `queries`, `answers` and `ingestion`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.admitted = Counter(
            "justesse_admitted_calls", "Calls that were let in.", ("kind",), registry=registry
        )
        self.refused = Counter(
            "justesse_unadmitted_calls",
            "Calls that were not let in: shed, queue_full, waited_too_long, expired or cancelled.",
            ("kind", "reason"),
            registry=registry,
        )
        self.at_work = Gauge(
            "justesse_calls_at_work", "Calls that hold a place.", ("kind",), registry=registry
        )
        self.waiting = Gauge(
            "justesse_calls_waiting", "Calls that wait for a place.", ("kind",), registry=registry
        )
