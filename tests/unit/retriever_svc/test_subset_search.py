"""Dense searches among a part of the passages, at every selectivity."""

from dataclasses import dataclass
from threading import Event

import numpy as np
import pytest

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.dense_settings import DenseSettings, VectorStorage
from retriever_svc.embedded.dense.graph_building import BuildPlan, build_graph
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.workspaces import DenseIndexKind
from tests.fakes.retrieval import unit_rows

WIDTH = 32
# Graphs are searched as graphs although the index is small.
SETTINGS = DenseSettings(flat_row_limit=500, subset_row_limit=100, construction_breadth=60)


@dataclass(frozen=True)
class Filled:
    """An index with a graph of most rows, a tenth of them dead, and some growing rows."""

    rows: FloatMatrix
    queries: FloatMatrix
    index: SpaceIndex

    def random_part(self, share: float) -> IntVector:
        """Returns ids drawn alike from everywhere."""
        count = len(self.rows)
        chosen = np.random.default_rng(6).choice(count, int(count * share), replace=False)
        return np.sort(chosen).astype(np.int64)

    def correlated_part(self, share: float) -> IntVector:
        """Returns the ids of one side of the sphere."""
        heights = self.rows @ unit_rows(1, WIDTH, seed=7)[0]
        chosen = np.argsort(-heights)[: int(len(self.rows) * share)]
        return np.sort(chosen).astype(np.int64)


@pytest.fixture(scope="module")
def filled(request: pytest.FixtureRequest) -> Filled:
    """Twenty thousand rows; a hundred thousand with full counts."""
    count = 100_000 if request.config.getoption("--soak") else 20_000
    rows = unit_rows(count, WIDTH, seed=4)
    noise = np.random.default_rng(5).standard_normal((60, WIDTH)).astype(np.float32)
    index = SpaceIndex(WIDTH, DenseIndexKind.HNSW, SETTINGS)
    sealed = count - 500
    index.put(np.arange(sealed), rows[:sealed])
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    index.publish(plan, build_graph(plan, SETTINGS, Event()))
    index.put(np.arange(sealed, count), rows[sealed:])
    index.remove(np.arange(0, count, 10))
    return Filled(rows, rows[:60] + 0.05 * noise, index)


@pytest.mark.parametrize("correlated", [False, True], ids=["random", "correlated"])
@pytest.mark.parametrize("share", [0.0005, 0.01, 0.1, 0.5, 0.9])
def test_a_subset_is_searched_whole(filled: Filled, share: float, correlated: bool) -> None:
    """min(limit, matching) hits always; recall 1 where exact, .95 and .90 elsewhere."""
    ids = filled.correlated_part(share) if correlated else filled.random_part(share)
    subset = Subset(ids)
    live = ids[ids % 10 != 0]
    recalls = []
    for query in filled.queries:
        hits = filled.index.search_among(subset, query, 20)
        truth = live[np.argsort(-(filled.rows[live] @ query), kind="stable")[:20]]
        assert len(hits.ids) == min(20, len(live)) == len(set(hits.ids))
        assert set(hits.ids) <= set(live.tolist())
        recalls.append(len(set(truth.tolist()) & set(hits.ids)) / len(truth))
        if share <= 0.1:
            assert hits.exact
        if hits.exact:
            assert recalls[-1] == 1

    assert filled.index.count_among(subset) == len(live)
    assert float(np.mean(recalls)) >= (0.9 if correlated else 0.95)


def test_large_parts_go_through_the_graph(filled: Filled) -> None:
    """Otherwise the recall of the graph would not have been measured; exact is exact on request."""
    subset = Subset(filled.random_part(0.5))

    assert not filled.index.search_among(subset, filled.queries[0], 20).exact
    assert filled.index.search_among(subset, filled.queries[0], 20, exact=True).exact


def test_a_graph_that_loses_its_way_is_replaced_by_an_exact_search() -> None:
    """A far and closed cluster between the query and all open rows costs no hit."""
    settings = DenseSettings(flat_row_limit=0, subset_row_limit=1, search_breadth=1)
    rows = unit_rows(3_000, 8, seed=8)
    index = SpaceIndex(8, DenseIndexKind.HNSW, settings)
    index.put(np.arange(3_000), rows)
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    index.publish(plan, build_graph(plan, settings, Event()))
    farthest = np.sort(np.argsort(rows @ rows[0])[:400]).astype(np.int64)

    hits = index.search_among(Subset(farthest), rows[0], 300)

    assert len(hits.ids) == 300


def test_segments_without_a_row_of_the_subset_are_not_searched() -> None:
    """A subset of rows beside a graph of approximate vectors is answered exactly, and says so;
    one without any row finds nothing."""
    settings = DenseSettings(flat_row_limit=0, vector_storage=VectorStorage.INT8)
    rows = unit_rows(1_200, WIDTH, seed=8)
    index = SpaceIndex(WIDTH, DenseIndexKind.HNSW, settings)
    index.put(np.arange(1_100), rows[:1_100])
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    index.publish(plan, build_graph(plan, settings, Event()))
    index.put(np.arange(1_100, 1_200), rows[1_100:])
    beside = index.search_among(Subset(np.arange(1_100, 1_200)), rows[1_150], 10)
    across = index.search_among(Subset(np.arange(1_050, 1_200)), rows[1_150], 10)
    nowhere = index.search_among(Subset(np.array([5_000])), rows[1_150], 10)

    assert (beside.exact, across.exact) == (True, False)
    assert (len(beside.ids), beside.ids[0]) == (10, 1_150)
    assert (nowhere.ids, nowhere.exact) == ([], True)


def test_rows_that_come_later_are_not_in_an_older_subset_by_accident(filled: Filled) -> None:
    """A subset holds ids, not rows: an unknown id finds nothing."""
    subset = Subset(np.array([len(filled.rows) + 5], np.int64))

    assert filled.index.search_among(subset, filled.queries[0], 20).ids == []
    assert filled.index.search_among(Subset(np.empty(0, np.int64)), filled.queries[0], 20).ids == []
