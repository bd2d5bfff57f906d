"""What the retriever measures about the recall of its dense indexes."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Summary

MAX_SPACES = 1000
OTHERS = "(other)"


class RecallMetrics:
    """Holds the recall of sampled lists, and counts samples that gave none.

    At most MAX_SPACES spaces are told apart, since every series costs memory for the life of the
    process; those of which the first sample comes later are counted together.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._spaces: set[tuple[str, str]] = set()
        self._recall = Summary(
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

    def observe(self, workspace: str, space_id: str, recall: float) -> None:
        """Notes the recall of one list, 0 to 1."""
        place = (workspace, space_id)
        if place not in self._spaces and len(self._spaces) >= MAX_SPACES:
            place = (OTHERS, OTHERS)
        else:
            self._spaces.add(place)
        self._recall.labels(*place).observe(recall)


@cache
def recall_metrics_of(registry: CollectorRegistry) -> RecallMetrics:
    """Returns the metrics of a registry, the same each time: it takes a name once."""
    return RecallMetrics(registry)
