"""What the retriever measures about the recall of its dense indexes."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Summary


class RecallMetrics:
    """Holds the recall of sampled lists, and counts samples that gave none."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.recall = Summary(
            "retriever_recall_at_k",
            "Share of the k nearest passages that a dense list of k held; of sampled queries.",
            ("workspace", "space"),
            registry=registry,
        )
        self.dropped = Counter(
            "retriever_recall_samples_dropped",
            "Sampled lists that were not repeated exactly because others were waiting.",
            registry=registry,
        )
        self.failed = Counter(
            "retriever_recall_samples_failed",
            "Sampled lists whose exact repetition failed; the log says why.",
            registry=registry,
        )


@cache
def recall_metrics_of(registry: CollectorRegistry) -> RecallMetrics:
    """Returns the metrics of a registry, the same each time: it takes a name once."""
    return RecallMetrics(registry)
