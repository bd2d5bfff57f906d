"""What a retriever holds in memory for each vector, as a multiple of the raw vectors."""

import tempfile
from pathlib import Path

from benchmarks.retriever_corpus import WIDTH
from benchmarks.retriever_folder import filled_folder, opened_elsewhere


def measure(quick: bool) -> dict[str, float]:
    """Returns resident memory after a restart and some searches, less that of an empty engine."""
    count = 20_000 if quick else 100_000
    full = opened_elsewhere(filled_folder(count).path)
    with tempfile.TemporaryDirectory() as empty_folder:
        empty = opened_elsewhere(Path(empty_folder) / "data")
    raw = count * WIDTH * 4
    held = full["resident_bytes"] - empty["resident_bytes"]
    return {
        "raw vectors, MB": raw / 1e6,
        "index, lexical and page caches, MB": held / 1e6,
        "index, lexical and page caches / raw vectors": held / raw,
    }
