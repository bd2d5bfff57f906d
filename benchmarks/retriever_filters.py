"""Filtered dense search against the bare FAISS selector, over random parts of the passages.

"exact" is FAISS's own exact search over the storage of the same graph with an `IDSelectorBitmap`,
which no filter that is answered exactly can undercut by much; "graph" is its graph search with
that selector at efSearch 128, which loses hits where few passages are left. The part itself is
found once for each state of a workspace, and its search afterwards is what is timed here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import faiss as typed_faiss
import numpy as np
import numpy.typing as npt

from benchmarks.interleaving import Figures, Round, interleaved, time_ratios, timed_round
from benchmarks.retriever_corpus import Matrix, vectors
from benchmarks.retriever_dense import bare_index, graphs, index_over
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.embedded.dense.subset import Subset

faiss: Any = typed_faiss

_SHARES = (0.01, 0.1, 0.5, 0.9)
_COUNT, _QUERIES = 20, 30


def measure(quick: bool) -> Figures:
    """Returns times as multiples of FAISS's, and recall, for each share of the passages."""
    rows = vectors(20_000 if quick else 100_000)
    queries = vectors(_QUERIES, seed=9)
    ids = np.arange(1, len(rows) + 1)
    graph, _ = graphs(len(rows))
    index, bare = index_over(graph), bare_index(graph)
    storage = faiss.downcast_index(bare.storage)
    figures: Figures = {}
    for share in _SHARES:
        chosen = np.random.default_rng(7).random(len(ids)) < share
        subset = Subset(ids[chosen])
        bits = np.packbits(chosen, bitorder="little")
        selector = faiss.IDSelectorBitmap(bits)
        systems = {
            "ours": _round(partial(_search, index, subset), queries),
            "exact": _round(partial(_exact, storage, selector), queries),
            "graph": _round(partial(_graph, bare, selector), queries),
        }
        timings = interleaved(systems, 4 if quick else 21)
        label = f"{share:.0%}"
        figures |= {f"{label}: {name}, p50, ms": one.median_ms for name, one in timings.items()}
        for name in ("exact", "graph"):
            figures |= time_ratios(f"{label}: time / {name}", timings["ours"], timings[name])
        figures |= {
            f"{label}: recall@20": _recall(index, subset, queries),
            f"{label}: answered exactly": float(index.search_among(subset, queries[0], 20).exact),
        }
    return figures


def _recall(index: SpaceIndex, subset: Subset, queries: Matrix) -> float:
    shares = []
    for query in queries:
        exact = index.search_among(subset, query, _COUNT, exact=True).ids
        found = index.search_among(subset, query, _COUNT).ids
        shares.append(len(set(found) & set(exact)) / len(exact))
    return sum(shares) / len(shares)


def _search(index: SpaceIndex, subset: Subset, query: npt.NDArray[np.float32]) -> object:
    return index.search_among(subset, query, _COUNT)


def _exact(storage: Any, selector: Any, query: npt.NDArray[np.float32]) -> object:
    parameters = faiss.SearchParameters(sel=selector)
    return storage.search(query[np.newaxis], _COUNT, params=parameters)


def _graph(bare: Any, selector: Any, query: npt.NDArray[np.float32]) -> object:
    breadth = DenseSettings().search_breadth
    parameters = faiss.SearchParametersHNSW(efSearch=breadth, sel=selector)
    return bare.search(query[np.newaxis], _COUNT, params=parameters)


def _round(
    search: Callable[[npt.NDArray[np.float32]], object], queries: Matrix
) -> Callable[[], Round]:
    return lambda: timed_round([partial(search, query) for query in queries])
