"""The dense index against a search over all vectors."""

from threading import Event

import numpy as np
import numpy.typing as npt
import pytest

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildPlan, BuildStopped, build_graph
from retriever_svc.embedded.dense.restoration import RestorePlan, restoration
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.workspaces import DenseIndexKind
from tests.fakes.retrieval import unit_rows

WIDTH = 32
ROWS = unit_rows(4_000, WIDTH, seed=1)
QUERIES = unit_rows(40, WIDTH, seed=1)
SMALL = DenseSettings(flat_row_limit=500, growing_row_limit=200)


def build_all(index: SpaceIndex, settings: DenseSettings = SMALL) -> int:
    """Builds every graph that is due; returns how many."""
    count = 0
    while (plan := index.next_build()) is not None:
        if isinstance(plan, RestorePlan):
            index.restore(plan, restoration(plan, []))
            continue
        index.publish(plan, build_graph(plan, settings, Event()))
        count += 1
    return count


def filled(kind: DenseIndexKind, count: int, settings: DenseSettings = SMALL) -> SpaceIndex:
    """Returns an index of the first rows under ids 1, 2, ..., put in steps of 100."""
    index = SpaceIndex(WIDTH, kind, settings)
    for first in range(0, count, 100):
        last = min(first + 100, count)
        index.put(np.arange(first, last) + 1, ROWS[first:last])
        build_all(index, settings)
    return index


def oracle(
    live: dict[int, npt.NDArray[np.float32]], query: npt.NDArray[np.float32], count: int
) -> list[int]:
    """Returns the nearest ids by looking at every live vector, ties by id."""
    ids = sorted(live)
    scores = np.einsum("ij,j->i", np.array([live[id_] for id_ in ids]), query)
    order = np.lexsort((ids, -scores))[:count]
    return [ids[place] for place in order]


def recall(index: SpaceIndex, count: int = 20) -> float:
    """Returns the mean share of the true nearest that a search finds."""
    shares = []
    for query in QUERIES:
        truth = set(index.search(query, count, exact=True).ids)
        shares.append(len(truth & set(index.search(query, count).ids)) / len(truth))
    return float(np.mean(shares))


@pytest.mark.parametrize("kind", list(DenseIndexKind))
def test_exact_search_equals_the_oracle(kind: DenseIndexKind) -> None:
    """Over growing and graph segments alike, in order, with ties by id."""
    index = filled(kind, 1_500)
    live = {row + 1: ROWS[row] for row in range(1_500)}

    for query in QUERIES[:10]:
        hits = index.search(query, 20, exact=True)
        assert hits.exact
        assert hits.ids == oracle(live, query, 20)


def test_auto_is_exact_while_small_and_a_graph_when_large() -> None:
    """The kind that answers is told, and whether the answer is exact."""
    small = filled(DenseIndexKind.AUTO, 500)
    large = filled(DenseIndexKind.AUTO, 2_000)

    assert small.active_kind is DenseIndexKind.FLAT
    assert small.search(QUERIES[0], 5).exact
    assert large.active_kind is DenseIndexKind.HNSW
    assert not large.search(QUERIES[0], 5).exact


def test_flat_never_builds_a_graph() -> None:
    """The choice of the workspace holds at any size."""
    index = filled(DenseIndexKind.FLAT, 2_000)

    assert (index.active_kind, index.graphs) == (DenseIndexKind.FLAT, ())
    assert index.search(QUERIES[0], 5).exact


def test_wider_vectors_get_a_graph_earlier() -> None:
    """Exact search costs rows times width."""
    settings = DenseSettings()

    assert settings.flat_rows(384) == settings.flat_rows(64) == 5_000
    assert settings.flat_rows(1_024) == 1_875


def test_recall_through_growth_deletions_and_updates() -> None:
    """At default breadth the graph finds at least 95 % of the true nearest, whatever happened."""
    index = filled(DenseIndexKind.AUTO, 4_000)
    recalls = [recall(index)]
    index.remove(np.arange(1, 1_001))
    recalls.append(recall(index))
    index.remove(np.arange(1_001, 2_001))
    recalls.append(recall(index))
    assert build_all(index) > 0
    recalls.append(recall(index))
    for update in range(5):
        ids = np.arange(2_001 + update * 200, 2_201 + update * 200)
        index.put(ids, unit_rows(200, WIDTH, seed=10 + update))
        build_all(index)
        recalls.append(recall(index))

    assert len(index) == 2_000
    assert min(recalls) >= 0.95


def test_a_graph_with_few_live_rows_is_searched_exactly() -> None:
    """With 99 % deleted and no rebuild yet, everything that is left is found."""
    index = filled(DenseIndexKind.AUTO, 4_000)
    index.remove(np.arange(1, 3_961))
    live = {row + 1: ROWS[row] for row in range(3_960, 4_000)}

    for query in QUERIES[:10]:
        assert index.search(query, 20).ids == oracle(live, query, 20)


@pytest.mark.parametrize("count", [1, 20, 200])
def test_dead_rows_around_a_query_do_not_cost_hits(count: int) -> None:
    """With a fifth deleted, those nearest to the query, the graph leads to dead rows alone; all
    that was asked for is found, and it is the nearest of what is left."""
    index = filled(DenseIndexKind.AUTO, 4_000)
    query = QUERIES[0]
    index.remove(np.array(index.search(query, 800, exact=True).ids))
    hits = index.search(query, count)

    assert not hits.exact
    assert hits.ids == index.search(query, count, exact=True).ids


def test_removed_ids_never_come_back() -> None:
    """Neither before nor after a rebuild; asking for more than there is gives what there is."""
    index = filled(DenseIndexKind.AUTO, 1_200)
    index.remove(np.arange(1, 1_101))
    before = index.search(QUERIES[0], 200).ids
    build_all(index)
    after = index.search(QUERIES[0], 200).ids

    assert sorted(before) == sorted(after) == list(range(1_101, 1_201))
    assert index.active_kind is DenseIndexKind.FLAT


def test_everything_removed_leaves_an_empty_index() -> None:
    """No ids, no error, and it can be filled again."""
    index = filled(DenseIndexKind.HNSW, 600)
    index.remove(np.arange(1, 601))
    build_all(index)
    assert (len(index), index.search(QUERIES[0], 10).ids) == (0, [])

    index.put(np.array([7]), ROWS[:1])
    assert index.search(ROWS[0], 10).ids == [7]


def test_changes_during_a_build_are_not_lost() -> None:
    """What is removed, replaced or added while a graph is built stays so when it is published."""
    index = SpaceIndex(WIDTH, DenseIndexKind.AUTO, SMALL)
    index.put(np.arange(1, 1_001), ROWS[:1_000])
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    assert index.next_build() is None
    graph = build_graph(plan, SMALL, Event())
    index.remove(np.arange(1, 101))
    index.put(np.arange(101, 201), ROWS[2_000:2_100])
    index.put(np.arange(1_001, 1_051), ROWS[1_000:1_050])
    index.publish(plan, graph)
    live = {id_: ROWS[id_ - 1] for id_ in range(201, 1_051)}
    live |= {id_: ROWS[2_000 + id_ - 101] for id_ in range(101, 201)}

    assert index.active_kind is DenseIndexKind.HNSW
    assert len(index) == len(live)
    for query in QUERIES[:10]:
        assert index.search(query, 30, exact=True).ids == oracle(live, query, 30)


def test_rows_of_a_stopped_build_stay_and_are_built_later() -> None:
    """Giving up costs nothing but the graph."""
    index = SpaceIndex(WIDTH, DenseIndexKind.AUTO, SMALL)
    index.put(np.arange(1, 1_001), ROWS[:1_000])
    plan = index.next_build()
    assert isinstance(plan, BuildPlan)
    stop = Event()
    stop.set()
    with pytest.raises(BuildStopped):
        build_graph(plan, SMALL, stop)
    index.abandon()

    assert index.search(ROWS[5], 1).ids == [6]
    assert build_all(index) == 1
    assert index.active_kind is DenseIndexKind.HNSW


def test_a_full_graph_begins_another_segment() -> None:
    """A graph is copied to be extended, so its size is bounded; all segments are searched."""
    settings = DenseSettings(flat_row_limit=0, growing_row_limit=200, segment_row_limit=400)
    index = filled(DenseIndexKind.AUTO, 1_500, settings)

    assert len(index.graphs) > 1
    assert [index.search(ROWS[row], 1).ids for row in (0, 700, 1_499)] == [[1], [701], [1_500]]


def test_loaded_rows_answer_exactly_until_the_graph_is_there() -> None:
    """After a start a large space answers at once."""
    index = SpaceIndex(WIDTH, DenseIndexKind.AUTO, SMALL)
    index.load(np.arange(1, 2_001), ROWS[:2_000])
    at_once = index.search(QUERIES[0], 10)
    build_all(index)
    later = index.search(QUERIES[0], 10)

    assert (at_once.exact, later.exact) == (True, False)
    assert set(at_once.ids) == set(later.ids)


def test_cosines_are_those_of_the_newest_vectors() -> None:
    """For ids in any segment; NaN for ids without a vector; the same beside whatever other ids."""
    index = filled(DenseIndexKind.AUTO, 1_000)
    index.put(np.array([3, 900]), ROWS[3_000:3_002])
    index.remove(np.array([4]))
    query = QUERIES[0]
    cosines = index.cosines(np.array([900, 3, 4, 5, 77_777]), query)

    assert cosines[[0, 1, 3]] == pytest.approx(ROWS[[3_001, 3_000, 4]] @ query, abs=1e-6)
    assert np.isnan(cosines[[2, 4]]).all()
    assert index.cosines(np.array([5]), query)[0] == cosines[3]
    assert index.contains(np.array([3, 4, 77_777])).tolist() == [True, False, False]
