"""What the retriever counts about its store and about content that was deleted."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge


class UpkeepMetrics:
    """Measures the write-ahead log, and counts purges of deleted content."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.log_bytes = Gauge(
            "retriever_log_bytes", "Size of the store's write-ahead log.", registry=registry
        )
        self.log_held = Gauge(
            "retriever_log_held",
            "1 while a reader keeps the write-ahead log from being emptied, 0 otherwise.",
            registry=registry,
        )
        self.purged = Counter(
            "retriever_purged",
            "Purges of a workspace's deleted content from all files.",
            registry=registry,
        )
        self.purge_failed = Counter(
            "retriever_purge_failed",
            "Purges that failed; each is tried again.",
            registry=registry,
        )


@cache
def upkeep_metrics_of(registry: CollectorRegistry) -> UpkeepMetrics:
    """Returns the metrics of a registry, the same each time: it takes a name once."""
    return UpkeepMetrics(registry)
