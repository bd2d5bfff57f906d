"""All benchmarks, with the time each is expected to take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks import (
    embedding_merging,
    gateway_hops,
    gateway_overload,
    ingestion,
    mesh_hops,
    mesh_overload,
    reranking_formula,
    retriever_busy,
    retriever_dense,
    retriever_filters,
    retriever_growth,
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
    "mesh_hops": Benchmark(mesh_hops.measure, 80),
    "gateway_hops": Benchmark(gateway_hops.measure, 60),
    "gateway_overload": Benchmark(gateway_overload.measure, 60),
    "mesh_overload": Benchmark(mesh_overload.measure, 70),
    "stage_costs": Benchmark(stage_costs.measure, 30),
    "reranking_formula": Benchmark(reranking_formula.measure, 3),
    "text_analysis": Benchmark(text_analysis.measure, 3),
    "embedding_merging": Benchmark(embedding_merging.measure, 15),
    "ingestion": Benchmark(ingestion.measure, 5),
    "retriever_ingest": Benchmark(retriever_ingest.measure, 130),
    "retriever_restart": Benchmark(retriever_restart.measure, 90),
    "retriever_growth": Benchmark(retriever_growth.measure, 80),
    "retriever_memory": Benchmark(retriever_memory.measure, 10),
    "retriever_serving": Benchmark(retriever_serving.measure, 90),
    "retriever_visibility": Benchmark(retriever_visibility.measure, 20),
    "retriever_busy": Benchmark(retriever_busy.measure, 30),
    "retriever_windows": Benchmark(retriever_windows.measure, 25),
    "retriever_dense": Benchmark(retriever_dense.measure, 60),
    "retriever_filters": Benchmark(retriever_filters.measure, 70),
    "retriever_lexical": Benchmark(retriever_lexical.measure, 90),
    "retriever_peers": Benchmark(retriever_peers.measure, 300),
    "retriever_peers_large": Benchmark(retriever_peers.measure_large, 1_500, only_when_named=True),
}
