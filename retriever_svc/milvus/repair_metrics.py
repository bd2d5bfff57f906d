"""What a replica counts about changes that Milvus has not taken in."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge


class RepairMetrics:
    """Measures how far Milvus is behind, and counts what was done about it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.behind = Gauge(
            "retriever_workspaces_behind",
            "Workspaces whose changes Milvus lacked at two looks in a row.",
            registry=registry,
        )
        self.repaired = Counter(
            "retriever_workspace_repaired",
            "Workspaces whose left changes this process brought to Milvus.",
            registry=registry,
        )
        self.failed = Counter(
            "retriever_workspace_repair_failed",
            "Attempts at that which failed; each is made again.",
            registry=registry,
        )


@cache
def repair_metrics_of(registry: CollectorRegistry) -> RepairMetrics:
    """Returns the metrics of a registry, the same each time: it takes a name once."""
    return RepairMetrics(registry)
