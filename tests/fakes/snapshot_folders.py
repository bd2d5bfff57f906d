"""Looks into the snapshots of an embedded engine's data folder, and what was counted of them."""

from pathlib import Path

from prometheus_client import CollectorRegistry


def snapshot_files(data: Path) -> list[Path]:
    """Returns all files of all snapshots, manifests included, in the order of their paths."""
    return sorted(path for path in data.glob("workspaces/*/dense/*/*") if path.is_file())


def counted(registry: CollectorRegistry, name: str) -> int:
    """Returns the sum of a counter over all its labels."""
    total = 0.0
    for metric in registry.collect():
        for sample in metric.samples:
            if sample.name == f"retriever_{name}_total":
                total += sample.value
    return int(total)


def rejections(registry: CollectorRegistry) -> dict[str, int]:
    """Returns how many snapshots were rejected, by reason."""
    return {
        sample.labels["reason"]: int(sample.value)
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "retriever_snapshot_rejected_total" and sample.value
    }
