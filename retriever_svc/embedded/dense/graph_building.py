"""Builds graph segments aside, from rows that do not change meanwhile except by dying."""

from dataclasses import dataclass
from threading import Event

import numpy as np

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.segment_rows import SegmentRows

_SLICE = 2_048


class BuildStopped(Exception):  # noqa: N818 - no error: somebody asked for it
    """Says that a build was given up because the process ends."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Names rows of a segment that go into a new one, in order."""

    segment: SegmentRows
    rows: IntVector


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """Says what a new graph segment is made of.

    With `extended`, a copy of that graph takes in the rows of `origins` after its own; without, a
    new graph is built.
    """

    dimension: int
    origins: tuple[Origin, ...]
    extended: GraphSegment | None = None

    def all_origins(self) -> tuple[Origin, ...]:
        """Returns the origins of all rows of the new segment, in order."""
        if self.extended is None:
            return self.origins
        whole = Origin(self.extended, np.arange(self.extended.row_count))
        return whole, *self.origins

    def sources(self) -> tuple[SegmentRows, ...]:
        """Returns the segments that the new one replaces."""
        return tuple(origin.segment for origin in self.all_origins())


def build_graph(plan: BuildPlan, settings: DenseSettings, stop: Event) -> HnswGraph:
    """Returns the graph of the plan. Raises BuildStopped soon after `stop` is set."""
    if plan.extended is None:
        graph = HnswGraph.empty(plan.dimension, settings)
    else:
        graph = plan.extended.graph.copy()
    for origin in plan.origins:
        for first in range(0, len(origin.rows), _SLICE):
            if stop.is_set():
                raise BuildStopped
            graph.add(origin.segment.vectors[origin.rows[first : first + _SLICE]])
    return graph


def segment_from(plan: BuildPlan, graph: HnswGraph) -> GraphSegment:
    """Returns the new segment with the rows alive that are alive in their origins now."""
    origins = plan.all_origins()
    ids = np.concatenate([origin.segment.ids[origin.rows] for origin in origins])
    alive = np.concatenate([origin.segment.alive[origin.rows] for origin in origins])
    return GraphSegment(graph, ids, alive)
