"""The ratios that stand in the README, a few of all."""

from collections.abc import Sequence

from benchmarks.goals import GOALS, Goal
from benchmarks.mesh_goals import MESH_GOALS

_SHOWN = (
    ("mesh_hops", "whole search, query vector cached, over the core, hops"),
    ("mesh_hops", "whole search, query vector cached, CPU / core"),
    ("stage_costs", "new query / query vector cached, time of the whole search"),
    ("retriever_dense", "tombstones: queries/s / FAISS"),
    ("retriever_filters", "1%: time / exact"),
    ("retriever_lexical", "queries/s / tantivy"),
    ("retriever_peers", "core queries/s / qdrant_edge"),
    ("retriever_peers", "core queries/s / milvus_lite"),
    ("retriever_visibility", "visible: p95, ms"),
)


def _goal(benchmark: str, figure: str) -> Goal:
    return next(
        goal
        for goal in (*MESH_GOALS, *GOALS)
        if (goal.benchmark, goal.figure) == (benchmark, figure)
    )


README_GOALS: Sequence[Goal] = tuple(_goal(*shown) for shown in _SHOWN)
