"""How soon a retriever answers after a restart, against one that must build its graphs."""

import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.retriever_folder import filled_folder, opened_elsewhere

ROUNDS = 5


def measure(quick: bool) -> dict[str, float]:
    """Returns seconds (medians of five starts) and ratios to one start without snapshots."""
    folder = filled_folder(20_000 if quick else 100_000).path
    starts = [opened_elsewhere(folder) for _ in range(ROUNDS)]
    median = {
        name: statistics.median(start[name] for start in starts)
        for name in ("ready_s", "process_s", "first_answer_s", "graphs_s")
    }
    with tempfile.TemporaryDirectory() as parent:
        bare = Path(parent) / "data"
        shutil.copytree(folder, bare, ignore=shutil.ignore_patterns("dense"))
        rebuild = opened_elsewhere(bare)
    return {
        "ready, s": median["ready_s"],
        "ready, imports of Python included, s": median["process_s"],
        "first answer, s": median["first_answer_s"],
        "first answer is exact (1) or from the graph (0)": starts[0]["first_exact"],
        "graphs from their snapshot, s": median["graphs_s"],
        "graphs built anew, s": rebuild["graphs_s"],
        "built anew / ready": rebuild["graphs_s"] / median["ready_s"],
        "built anew / from the snapshot": rebuild["graphs_s"] / median["graphs_s"],
    }
