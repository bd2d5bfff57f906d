"""Counts what becomes of tasks, and how long they are in work."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class JobMetrics:
    """The series of one process: tasks by kind and by what became of them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.ended = Counter(
            "justesse_job_tasks",
            "Tasks whose work ended here; the outcome is indexed, failed, cancelled, put_off, "
            "put_back or lost.",
            ("kind", "outcome"),
            registry=registry,
        )
        self.seconds = Histogram(
            "justesse_job_task_duration_seconds",
            "Seconds from the lease of a task to the end of its work.",
            ("kind",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self.in_work = Gauge(
            "justesse_job_tasks_in_work", "Tasks in work here.", ("kind",), registry=registry
        )
        self.unfinished = Gauge(
            "justesse_job_tasks_unfinished",
            "Unfinished tasks in the database, of all processes, when they were last counted.",
            ("kind", "state"),
            registry=registry,
        )
