"""The dense leg against what it is made of: a bare FAISS graph, and an exact search.

Both take the same vectors in the same order and search one query at a time for 20 rows at
efSearch 128. Ours maps rows to passages, orders them by exact products and heeds deletions; FAISS
knows none. "one graph" is the index when all rows are in its graph; "tombstones" the same after
almost 30 % of all passages were deleted, just before that makes it build anew; "compacted" after
it did; "uncompacted" a graph without the last rows, which wait in a segment searched exactly.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import faiss as typed_faiss
import numpy as np
import numpy.typing as npt

from benchmarks.interleaving import Figures, Round, interleaved, speed_ratios, timed_round
from benchmarks.retriever_corpus import WIDTH, Matrix, vectors
from retriever_svc.embedded.dense.dense_settings import DenseSettings, VectorStorage
from retriever_svc.embedded.dense.graph_building import BuildPlan
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.workspaces import DenseIndexKind

faiss: Any = typed_faiss

_COUNT, _QUERIES = 20, 50
_DEAD_SHARE = 0.29
_WAITING_ROWS = 2_000
_INT8_ROWS = 10_000
_SETTINGS = DenseSettings()


def measure(quick: bool) -> Figures:
    """Returns ratios of queries a second, agreement with exact search, and bytes of int8."""
    rows = vectors(20_000 if quick else 100_000)
    queries = vectors(_QUERIES, seed=9)
    ids = np.arange(1, len(rows) + 1)
    dead = ids[np.random.default_rng(7).random(len(ids)) < _DEAD_SHARE]

    whole, nearly_whole = graphs(len(rows))
    bare = bare_index(whole)
    one_graph = index_over(whole)
    with_dead = index_over(whole.copy())
    with_dead.remove(dead)
    compacted = index_over(graph_of(rows[np.isin(ids, dead, invert=True)]))
    uncompacted = index_over(nearly_whole)
    uncompacted.remove(dead[dead <= len(nearly_whole)])
    uncompacted.put(ids[len(nearly_whole) :], rows[len(nearly_whole) :])
    exact = faiss.IndexFlatIP(WIDTH)
    exact.add(rows)

    systems = {
        "FAISS": _round(partial(_bare_search, bare), queries),
        "FAISS, exact": _round(lambda query: exact.search(query[np.newaxis], _COUNT), queries[:20]),
        **{
            name: _round(partial(_search, index), queries)
            for name, index in {
                "one graph": one_graph,
                "tombstones": with_dead,
                "compacted": compacted,
                "uncompacted": uncompacted,
            }.items()
        },
    }
    timings = interleaved(systems, 6 if quick else 41)
    figures: Figures = {f"{name}: p50, ms": one.median_ms for name, one in timings.items()}
    for name in ("one graph", "tombstones", "compacted", "uncompacted"):
        figures |= speed_ratios(f"{name}: queries/s / FAISS", timings[name], timings["FAISS"])
    figures |= speed_ratios(
        "one graph: queries/s / exact", timings["one graph"], timings["FAISS, exact"]
    )
    figures["one graph: recall@20"] = recall(one_graph, queries)
    figures["tombstones: recall@20"] = recall(with_dead, queries)
    figures["int8 graph / float32 graph, bytes"] = _written_bytes(_int8(rows[:_INT8_ROWS])) / (
        _written_bytes(graph_of(rows[:_INT8_ROWS]))
    )
    return figures


@cache
def graphs(count: int) -> tuple[HnswGraph, HnswGraph]:
    """Returns a graph of so many vectors and one without the last of them, built once a run."""
    rows = vectors(count)
    nearly_whole = graph_of(rows[:-_WAITING_ROWS])
    whole = nearly_whole.copy()
    whole.add(rows[-_WAITING_ROWS:])
    return whole, nearly_whole


def graph_of(rows: Matrix) -> HnswGraph:
    """Returns the graph that the retriever builds of these rows."""
    graph = HnswGraph.empty(WIDTH, _SETTINGS)
    graph.add(rows)
    return graph


def index_over(graph: HnswGraph) -> SpaceIndex:
    """Returns an index with all rows in this graph; row i has id i + 1."""
    index = SpaceIndex(WIDTH, DenseIndexKind.HNSW, _SETTINGS)
    ids = np.arange(1, len(graph) + 1)
    index.put(ids, np.asarray(graph.vectors()))
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    index.publish(plan, graph)
    return index


def recall(index: SpaceIndex, queries: Matrix) -> float:
    """Returns the share of the exact hits that the index finds."""
    shares = [
        len(set(index.search(query, _COUNT).ids) & set(index.search(query, _COUNT, exact=True).ids))
        / _COUNT
        for query in queries
    ]
    return sum(shares) / len(shares)


def bare_index(graph: HnswGraph) -> Any:
    """Returns the FAISS index of a graph, by way of its bytes."""
    parts: list[bytes] = []
    graph.write(parts.append)
    return faiss.deserialize_index(np.frombuffer(b"".join(parts), np.uint8))


def _int8(rows: Matrix) -> HnswGraph:
    graph = HnswGraph.empty(WIDTH, DenseSettings(vector_storage=VectorStorage.INT8))
    graph.add(rows)
    return graph


def _written_bytes(graph: HnswGraph) -> int:
    sizes: list[int] = []
    graph.write(lambda part: sizes.append(len(part)))
    return sum(sizes)


def _search(index: SpaceIndex, query: npt.NDArray[np.float32]) -> object:
    return index.search(query, _COUNT)


def _bare_search(index: Any, query: npt.NDArray[np.float32]) -> object:
    parameters = faiss.SearchParametersHNSW(efSearch=_SETTINGS.search_breadth)
    return index.search(query[np.newaxis], _COUNT, params=parameters)


def _round(
    search: Callable[[npt.NDArray[np.float32]], object], queries: Matrix
) -> Callable[[], Round]:
    return lambda: timed_round([partial(search, query) for query in queries])
