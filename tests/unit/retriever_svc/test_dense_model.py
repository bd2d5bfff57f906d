"""The dense index against a dictionary, over random sequences of changes and builds."""

from threading import Event

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildPlan, build_graph
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.restoration import (
    Restoration,
    RestorePlan,
    restoration,
)
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.workspaces import DenseIndexKind
from tests.fakes.retrieval import unit_rows

WIDTH = 8
POOL = unit_rows(64, WIDTH, seed=5)
SETTINGS = DenseSettings(flat_row_limit=12, growing_row_limit=4, segment_row_limit=16)
ids = st.lists(st.integers(1, 40), min_size=1, max_size=12, unique=True)


class DenseModel(RuleBasedStateMachine):
    """Puts, removes, loads and builds in any order; a build may be published much later.

    Graphs of so few rows are searched exactly, so every search must equal the model's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.index = SpaceIndex(WIDTH, DenseIndexKind.AUTO, SETTINGS)
        self.live: dict[int, int] = {}
        self.built: tuple[BuildPlan, HnswGraph] | tuple[RestorePlan, Restoration] | None = None
        self.on_disk: list[tuple[HnswGraph, npt.NDArray[np.int64]]] = []

    @initialize(
        kind=st.sampled_from(list(DenseIndexKind)),
        loaded=st.integers(0, 40),
        on_disk=st.lists(
            st.lists(st.tuples(st.integers(1, 44), st.integers(0, 4)), min_size=1, max_size=30),
            max_size=2,
        ),
    )
    def load(self, kind: DenseIndexKind, loaded: int, on_disk: list[list[tuple[int, int]]]) -> None:
        """Starts with rows from the store, and graphs from disk whose rows may be old or gone.

        A row on disk is an id and how far its vector is from the one that the store holds.
        """
        for segment in on_disk:
            graph = HnswGraph.empty(WIDTH, SETTINGS)
            graph.add(POOL[[id_ - 1 + (distance > 2) * distance for id_, distance in segment]])
            self.on_disk.append((graph, np.array([id_ for id_, _ in segment])))
        self.index = SpaceIndex(WIDTH, kind, SETTINGS)
        self.index.load(np.arange(1, loaded + 1), POOL[:loaded])
        self.live = {row + 1: row for row in range(loaded)}

    @rule(chosen=ids, first=st.integers(0, 52))
    def put(self, chosen: list[int], first: int) -> None:
        """Stores vectors for new and known ids."""
        rows = range(first, first + len(chosen))
        self.index.put(np.array(chosen), POOL[list(rows)])
        self.live |= dict(zip(chosen, rows, strict=True))

    @rule(chosen=ids)
    def remove(self, chosen: list[int]) -> None:
        """Removes ids, known or not."""
        self.index.remove(np.array(chosen))
        for id_ in chosen:
            self.live.pop(id_, None)

    @rule()
    def begin_build(self) -> None:
        """Builds what is due, without publishing."""
        plan = self.index.next_build()
        if isinstance(plan, RestorePlan):
            self.built = plan, restoration(plan, self.on_disk)
        elif plan is not None:
            self.built = plan, build_graph(plan, SETTINGS, Event())

    @rule()
    def end_build(self) -> None:
        """Publishes the graph built before."""
        if self.built is None:
            return
        plan, outcome = self.built
        if isinstance(plan, BuildPlan) and isinstance(outcome, HnswGraph):
            self.index.publish(plan, outcome)
        elif isinstance(plan, RestorePlan) and isinstance(outcome, Restoration):
            self.index.restore(plan, outcome)
        self.built = None

    @invariant()
    def equals_the_model(self) -> None:
        """Finds exactly the live vectors, nearest first, ties by id."""
        known = sorted(self.live)
        assert len(self.index) == len(known)
        assert self.index.contains(np.arange(1, 41)).tolist() == [
            id_ in self.live for id_ in range(1, 41)
        ]
        for query in POOL[:2]:
            rows = POOL[[self.live[id_] for id_ in known]].reshape(-1, WIDTH)
            scores = np.einsum("ij,j->i", rows, query)
            expected = [known[place] for place in np.lexsort((known, -scores))]
            assert self.index.search(query, 100).ids == expected
            assert self.index.search(query, 3).ids == expected[:3]


TestDenseModel = DenseModel.TestCase
TestDenseModel.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
