"""Reciprocal Rank Fusion."""

import math
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from retriever_svc.fusion import Ranking, count_candidates, fuse

rankings = st.lists(
    st.builds(
        Ranking,
        ids=st.lists(st.integers(1, 30), max_size=12, unique=True),
        weight=st.sampled_from([0.25, 0.5, 1.0, 2.0]),
        rank_scale=st.sampled_from([1.0, 1.5, 40.0]),
    ),
    max_size=5,
)


def test_first_in_one_list_and_fifth_in_the_other() -> None:
    """The published formula gives 1/61 + 1/65."""
    fused = fuse([Ranking([7, 1, 2, 3, 4]), Ranking([10, 11, 12, 13, 7])])

    assert fused[0].passage_id == 7
    assert math.isclose(fused[0].score, 1 / 61 + 1 / 65, rel_tol=1e-12)
    assert [(place.list_index, place.rank) for place in fused[0].places] == [(0, 1), (1, 5)]


def test_agreement_beats_a_lonely_first_place() -> None:
    """Ranked second and third by two lists counts more than first in one of them."""
    fused = fuse([Ranking([1, 2, 3]), Ranking([4, 5, 3])])

    assert fused[0].passage_id == 3


def test_absence_adds_nothing() -> None:
    """A list that does not hold a candidate leaves its score alone, however long it is."""
    alone = fuse([Ranking([1])])
    beside = fuse([Ranking([1]), Ranking(range(100, 300))])

    assert alone[0].score == next(c.score for c in beside if c.passage_id == 1)


def test_a_small_space_ranks_behind_a_full_one() -> None:
    """The first of 3 passages among 300 counts like place 100 of a full list."""
    fused = fuse([Ranking([1, 2, 3], rank_scale=300 / 3), Ranking([4, 5, 6])])

    assert [candidate.passage_id for candidate in fused] == [4, 5, 6, 1, 2, 3]
    assert math.isclose(fused[3].score, 1 / (60 + 100))


def test_an_id_twice_in_a_list_counts_with_its_best_rank() -> None:
    """A duplicate adds nothing."""
    assert fuse([Ranking([5, 6, 5])])[0].score == fuse([Ranking([5])])[0].score


def test_ties_are_ordered_by_id() -> None:
    """Equal scores give the same order whatever the lists look like."""
    assert [candidate.passage_id for candidate in fuse([Ranking([9]), Ranking([3])])] == [3, 9]


def test_no_lists_and_empty_lists_give_nothing() -> None:
    """Nothing found is an empty result, not an error."""
    assert fuse([]) == []
    assert fuse([Ranking([]), Ranking([])]) == []


def test_the_best_of_one_list_alone_is_not_cut_before_worse_ones() -> None:
    """Lists are fused whole: first in one list leads what stands at place 95 of it, at any cut."""
    ids = list(range(100, 300))
    for limit in (1, 5, 50):
        fused = fuse([Ranking(ids), Ranking(range(1, 60))], limit=limit)
        held = [candidate.passage_id for candidate in fused]
        assert 100 in held or limit == 1
        assert ids[94] not in held


@given(rankings, st.integers(0, 70))
def test_a_cut_fusion_is_the_beginning_of_the_whole(lists: list[Ranking], limit: int) -> None:
    """Places, scores and order do not depend on the cut; the count is that of the whole."""
    whole = fuse(lists)

    assert fuse(lists, limit=limit) == whole[:limit]
    assert count_candidates(lists) == len(whole)


@given(rankings)
def test_nothing_is_lost_or_invented(lists: list[Ranking]) -> None:
    """The fused ids are the union of the lists, each once, before any cut."""
    fused = [candidate.passage_id for candidate in fuse(lists)]

    assert sorted(fused) == sorted({id_ for ranking in lists for id_ in ranking.ids})


@given(rankings)
def test_one_list_keeps_its_order(lists: list[Ranking]) -> None:
    """Fusing a single list changes nothing."""
    for ranking in lists:
        assert [candidate.passage_id for candidate in fuse([ranking])] == list(ranking.ids)


@given(rankings, st.randoms(use_true_random=False))
def test_order_of_lists_does_not_matter(lists: list[Ranking], random: Random) -> None:
    """The same lists in another order give the same candidates with equal scores."""
    shuffled = list(lists)
    random.shuffle(shuffled)

    before = [(candidate.passage_id, candidate.score) for candidate in fuse(lists)]
    after = [(candidate.passage_id, candidate.score) for candidate in fuse(shuffled)]
    assert before == after


@given(rankings, st.data())
def test_moving_up_in_a_list_never_costs_a_place(lists: list[Ranking], data: st.DataObject) -> None:
    """Fusion is monotone: one step up in any one list does not lower a candidate."""
    candidates = [(i, r) for i, one in enumerate(lists) for r in range(1, len(one.ids))]
    if not candidates:
        return
    index, rank = data.draw(st.sampled_from(candidates))
    ids = list(lists[index].ids)
    moved = ids[rank]
    ids[rank - 1], ids[rank] = ids[rank], ids[rank - 1]
    changed = list(lists)
    changed[index] = Ranking(ids, lists[index].weight, lists[index].rank_scale)

    def place(of: list[Ranking]) -> int:
        return [candidate.passage_id for candidate in fuse(of)].index(moved)

    assert place(changed) <= place(lists)
