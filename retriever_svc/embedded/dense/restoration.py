"""Puts graphs that were kept on disk over rows that came from the store.

The store decides: a row of a graph is live only if the store holds exactly its vector for its id.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.segment_rows import SegmentRows

_SLICE = 4_096


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Names the rows, each id once, as they were loaded from the store."""

    loaded: SegmentRows


@dataclass(frozen=True, slots=True)
class RestoredGraph:
    """A graph whose row i shows row `origins[i]` of the plan, or nothing of it (-1)."""

    graph: HnswGraph
    ids: IntVector
    origins: IntVector


@dataclass(frozen=True, slots=True)
class Restoration:
    """Holds the graphs of a plan, and the rows of the plan that no graph shows."""

    graphs: tuple[RestoredGraph, ...]
    missing: IntVector


def restoration(plan: RestorePlan, graphs: Iterable[tuple[HnswGraph, IntVector]]) -> Restoration:
    """Matches graphs, given with the ids of their rows, with the rows of the plan."""
    loaded = plan.loaded
    shown = np.zeros(loaded.row_count, np.bool_)
    restored = []
    for graph, ids in graphs:
        origins = _origins(loaded, graph, ids)
        rows = np.flatnonzero(origins >= 0)
        origins[rows[shown[origins[rows]]]] = -1
        shown[origins[origins >= 0]] = True
        if (origins >= 0).any():
            restored.append(RestoredGraph(graph, ids, origins))
    return Restoration(tuple(restored), np.flatnonzero(~shown))


def _origins(loaded: SegmentRows, graph: HnswGraph, ids: IntVector) -> IntVector:
    """Returns for each row of the graph the row of the plan with its id and vector, or -1."""
    origins = np.full(len(ids), -1, np.int64)
    if not loaded.row_count:
        return origins
    newest = _newest_rows(ids)
    place = np.searchsorted(loaded.ids, ids[newest])
    place = np.minimum(place, loaded.row_count - 1)
    same_id = loaded.ids[place] == ids[newest]
    rows, places = newest[same_id], place[same_id]
    vectors = graph.vectors()
    for first in range(0, len(rows), _SLICE):
        chosen, origin = rows[first : first + _SLICE], places[first : first + _SLICE]
        same = (vectors[chosen] == graph.rounded(loaded.vectors[origin])).all(axis=1)
        origins[chosen[same]] = origin[same]
    return origins


def _newest_rows(ids: IntVector) -> IntVector:
    """Returns the last row of each id: the only one that a segment finds by id."""
    _, last = np.unique(ids[::-1], return_index=True)
    newest: IntVector = len(ids) - 1 - last
    return newest
