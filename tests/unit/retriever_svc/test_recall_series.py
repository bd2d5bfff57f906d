"""The series of sampled recall stay few, however many spaces there are."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from retriever_svc.embedded.recall_metrics import MAX_SPACES, OTHERS, RecallMetrics


def test_spaces_beyond_the_limit_are_counted_together() -> None:
    """Those that were there before keep their series, and no sample is lost."""
    registry = CollectorRegistry()
    metrics = RecallMetrics(registry)
    for number in range(MAX_SPACES + 3):
        metrics.observe("w", f"space-{number}", 0.5)
    metrics.observe("w", "space-0", 1.0)

    def count(workspace: str, space: str) -> float | None:
        labels = {"workspace": workspace, "space": space}
        return registry.get_sample_value("retriever_recall_at_k_count", labels)

    assert count("w", "space-0") == 2
    assert count("w", f"space-{MAX_SPACES}") is None
    assert count(OTHERS, OTHERS) == 3
