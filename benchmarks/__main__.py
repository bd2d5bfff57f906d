"""Runs the benchmarks: `python -m benchmarks [--quick] [NAME...]`."""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import (
    embedding_merging,
    ingestion,
    mesh_hops,
    reranking_formula,
    retriever_busy,
    retriever_dense,
    retriever_filters,
    retriever_ingest,
    retriever_lexical,
    retriever_memory,
    retriever_peers,
    retriever_restart,
    retriever_serving,
    retriever_visibility,
    retriever_windows,
    text_analysis,
)
from benchmarks.machine import machine

BENCHMARKS: Mapping[str, Callable[[bool], Mapping[str, float | None]]] = {
    "mesh_hops": mesh_hops.measure,
    "reranking_formula": reranking_formula.measure,
    "embedding_merging": embedding_merging.measure,
    "ingestion": ingestion.measure,
    "retriever_ingest": retriever_ingest.measure,
    "retriever_restart": retriever_restart.measure,
    "retriever_serving": retriever_serving.measure,
    "retriever_memory": retriever_memory.measure,
    "retriever_dense": retriever_dense.measure,
    "retriever_filters": retriever_filters.measure,
    "retriever_lexical": retriever_lexical.measure,
    "retriever_visibility": retriever_visibility.measure,
    "retriever_busy": retriever_busy.measure,
    "retriever_windows": retriever_windows.measure,
    "retriever_peers": retriever_peers.measure,
    "retriever_peers_large": retriever_peers.measure_large,
    "text_analysis": text_analysis.measure,
}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Runs the named benchmarks, or all, prints their figures and keeps them as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, nothing kept")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        figures = BENCHMARKS[name](arguments.quick)
        print(f"\n{name}")
        for figure, value in figures.items():
            shown = "not measured" if value is None else f"{value:.3f}"
            print(f"  {figure:<60} {shown:>12}")
        if not arguments.quick:
            RESULTS.mkdir(exist_ok=True)
            result = {"machine": machine(), "figures": figures}
            (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
