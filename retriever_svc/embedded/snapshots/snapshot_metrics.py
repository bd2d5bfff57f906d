"""What the retriever counts about its snapshots."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge


class SnapshotMetrics:
    """Counts snapshots that were written, loaded, and rejected by reason."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.written = Counter(
            "retriever_snapshot_written", "Snapshots of dense indexes written.", registry=registry
        )
        self.written_at = Gauge(
            "retriever_snapshot_written_timestamp_seconds",
            "When this process last wrote a snapshot, in seconds since 1970 UTC; 0 before.",
            registry=registry,
        )
        self.loaded = Counter(
            "retriever_snapshot_loaded", "Snapshots of dense indexes loaded.", registry=registry
        )
        self.rejected = Counter(
            "retriever_snapshot_rejected",
            "Snapshots of dense indexes that were dropped; their graphs are built anew.",
            ("reason",),
            registry=registry,
        )
        self.built = Counter(
            "retriever_graph_built", "Graphs built from vectors.", registry=registry
        )


@cache
def snapshot_metrics_of(registry: CollectorRegistry) -> SnapshotMetrics:
    """Returns the counters of a registry, the same each time: it takes a name once."""
    return SnapshotMetrics(registry)
