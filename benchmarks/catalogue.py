"""All benchmarks, with the time each is expected to take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks import (
    embedding_merging,
    gateway_hops,
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
    stage_costs,
    text_analysis,
)

LONGEST_DEFAULT_RUN_S = 30 * 60
"""What all benchmarks that run unnamed may take together, on two quiet cores."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Measures when called with whether to be quick; `expected_s` is for two quiet cores."""

    measure: Callable[[bool], Mapping[str, float | None]]
    expected_s: int
    only_when_named: bool = False


BENCHMARKS: Mapping[str, Benchmark] = {
    "mesh_hops": Benchmark(mesh_hops.measure, 60),
    "gateway_hops": Benchmark(gateway_hops.measure, 80),
    "stage_costs": Benchmark(stage_costs.measure, 50),
    "reranking_formula": Benchmark(reranking_formula.measure, 5),
    "text_analysis": Benchmark(text_analysis.measure, 10),
    "embedding_merging": Benchmark(embedding_merging.measure, 20),
    "ingestion": Benchmark(ingestion.measure, 20),
    "retriever_ingest": Benchmark(retriever_ingest.measure, 150),
    "retriever_restart": Benchmark(retriever_restart.measure, 120),
    "retriever_memory": Benchmark(retriever_memory.measure, 30),
    "retriever_serving": Benchmark(retriever_serving.measure, 60),
    "retriever_visibility": Benchmark(retriever_visibility.measure, 30),
    "retriever_busy": Benchmark(retriever_busy.measure, 40),
    "retriever_windows": Benchmark(retriever_windows.measure, 40),
    "retriever_dense": Benchmark(retriever_dense.measure, 240),
    "retriever_filters": Benchmark(retriever_filters.measure, 90),
    "retriever_lexical": Benchmark(retriever_lexical.measure, 120),
    "retriever_peers": Benchmark(retriever_peers.measure, 300),
    "retriever_peers_large": Benchmark(retriever_peers.measure_large, 1_500, only_when_named=True),
}
