"""The embedded formula: known values, several spaces, and what holds for any scores."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking_formula.formula import rank_by_formula
from reranker_svc.reranking import Candidate, RankedPassage, SpaceScore

A = "embedded/e5@1/384"
B = "mistral/embed@1/1024"


def candidate(
    passage_id: str,
    cosine: float | None = None,
    bm25: float | None = None,
    *,
    window: float | None = None,
    space: str = A,
) -> Candidate:
    scores = () if cosine is None and window is None else (SpaceScore(space, cosine, window),)
    return Candidate(passage_id, space_scores=scores, bm25_score=bm25)


def ranked(*candidates: Candidate, weight: float = 0.5) -> tuple[RankedPassage, ...]:
    return rank_by_formula(candidates, similarity_weight=weight)


def ids(passages: tuple[RankedPassage, ...]) -> str:
    return "".join(passage.passage_id for passage in passages)


def scores(passages: tuple[RankedPassage, ...]) -> dict[str, float | None]:
    return {passage.passage_id: passage.score for passage in passages}


def test_known_values_of_the_formula() -> None:
    """d is scaled between the smallest and largest cosine, b is the share of the best BM25."""
    passages = ranked(candidate("a", 0.8, 2.2), candidate("b", 0.9, 1.0), candidate("c", 0.7, 4.0))

    assert ids(passages) == "bac"
    assert scores(passages) == pytest.approx(
        {
            "b": 0.5 * 1.0 + 0.5 * 0.25,
            "a": 0.5 * 0.5 + 0.5 * 0.55,
            "c": 0.5 * 0.0 + 0.5 * 1.0,
        }
    )


def test_the_weight_moves_between_cosine_and_bm25() -> None:
    """Weight 1 sorts by cosine alone, weight 0 by BM25 alone."""
    candidates = (candidate("a", 0.8, 2.0), candidate("b", 0.9, 1.0), candidate("c", 0.7, 4.0))

    assert ids(ranked(*candidates, weight=1.0)) == "bac"
    assert ids(ranked(*candidates, weight=0.0)) == "cab"


def test_windows_are_averaged_with_the_cosine() -> None:
    """A good window lifts its passage; a passage without windows counts its cosine alone."""
    passages = ranked(
        candidate("a", 0.80),
        candidate("b", 0.78, window=0.90),
        candidate("c", 0.70, window=0.72),
    )

    assert ids(passages) == "bac"
    assert scores(passages) == pytest.approx({"b": 1.0, "a": 0.09 / 0.13, "c": 0.0})


@pytest.mark.parametrize("bm25", [None, 0.0])
def test_without_bm25_the_cosine_decides_alone(bm25: float | None) -> None:
    """No BM25 score, or none above 0, leaves d as the score."""
    passages = ranked(candidate("a", 0.1, bm25), candidate("b", 0.5, bm25))

    assert ids(passages) == "ba"
    assert scores(passages) == {"b": 1.0, "a": 0.0}


def test_without_cosines_bm25_decides_alone() -> None:
    """With no embedder answering, the lexical scores still sort; the unscored keep their place."""
    passages = ranked(candidate("a", None, 1.0), candidate("b"), candidate("c", None, 4.0))

    assert ids(passages) == "cba"
    assert scores(passages) == {"c": 1.0, "b": None, "a": 0.25}


def test_a_candidate_without_bm25_matches_nothing() -> None:
    """Beside others with a BM25 score, an absent one counts as 0."""
    passages = ranked(candidate("a", 0.9), candidate("b", 0.9, 3.0))

    assert scores(passages) == {"b": 1.0, "a": 0.5}


def test_a_single_candidate_and_equal_cosines_are_scored_without_division() -> None:
    """Where the smallest cosine equals the largest, d is 1 for all."""
    assert scores(ranked(candidate("a", 0.4))) == {"a": 1.0}
    assert scores(ranked(candidate("a", 0.4, 1.0), candidate("b", 0.4, 2.0))) == {
        "a": 0.75,
        "b": 1.0,
    }


def test_ties_keep_the_fused_order() -> None:
    """Equal scores change nothing, whatever the ids are called."""
    assert ids(ranked(candidate("z", 0.4), candidate("m", 0.4), candidate("a", 0.4))) == "zma"


def test_no_scores_and_no_candidates_change_nothing() -> None:
    """Without any usable score every candidate keeps its place, unscored."""
    passages = ranked(candidate("b"), candidate("a", window=0.4))

    assert passages == (RankedPassage("b"), RankedPassage("a"))
    assert ranked() == ()


def test_spaces_are_ordered_apart_and_merged_by_rank() -> None:
    """Each space fills the places its candidates held; cosines of two spaces never meet."""
    passages = ranked(
        candidate("a", 0.80),
        candidate("x", 0.10, space=B),
        candidate("b", 0.90),
        candidate("c", 0.85),
        candidate("y", 0.30, space=B),
    )

    assert ids(passages) == "bycax"
    assert scores(passages)["y"] == 1.0


def test_a_candidate_without_a_cosine_keeps_its_fused_place() -> None:
    """A passage that waits for its vectors is neither lifted nor lost by the formula."""
    passages = ranked(
        candidate("a", 0.1, 1.0),
        candidate("w", None, 9.0),
        candidate("b", 0.9, 1.0),
    )

    assert ids(passages) == "bwa"
    assert scores(passages)["w"] is None


def test_a_candidate_of_two_spaces_is_ordered_in_the_fuller_one() -> None:
    """While a workspace is re-embedded, passages are compared where most can be compared."""
    both = Candidate("m", space_scores=(SpaceScore(B, 0.1), SpaceScore(A, 0.95)))

    passages = ranked(candidate("a", 0.8), both, candidate("b", 0.9))

    assert ids(passages) == "mba"


COSINES = st.floats(-1.0, 1.0, width=32)
SPACE_SCORES = st.lists(
    st.builds(
        SpaceScore,
        st.sampled_from([A, B]),
        st.none() | COSINES,
        st.none() | COSINES,
    ),
    max_size=2,
    unique_by=lambda score: score.space_id,
).map(tuple)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.uuids().map(str),
        space_scores=SPACE_SCORES,
        bm25_score=st.none() | st.floats(0.0, 50.0, width=32),
    ),
    max_size=12,
    unique_by=lambda candidate: candidate.passage_id,
)
WEIGHTS = st.floats(0.0, 1.0)


@given(candidates=CANDIDATES, weight=WEIGHTS)
@settings(derandomize=True, max_examples=300)
def test_the_answer_is_always_a_permutation(candidates: list[Candidate], weight: float) -> None:
    """No passage is lost, invented or repeated, and every score is a share from 0 to 1."""
    passages = ranked(*candidates, weight=weight)

    assert sorted(passage.passage_id for passage in passages) == sorted(
        candidate.passage_id for candidate in candidates
    )
    given_scores = [passage.score for passage in passages if passage.score is not None]
    assert all(math.isfinite(score) and 0.0 <= score <= 1.0 for score in given_scores)


@given(candidates=CANDIDATES, weight=WEIGHTS)
@settings(derandomize=True, max_examples=100)
def test_the_order_is_deterministic_and_unscored_candidates_stay(
    candidates: list[Candidate], weight: float
) -> None:
    """Equal requests get equal answers; whoever has no score stands where it stood."""
    passages = ranked(*candidates, weight=weight)

    assert passages == ranked(*candidates, weight=weight)
    for place, passage in enumerate(passages):
        if passage.score is None:
            assert candidates[place].passage_id == passage.passage_id


@given(
    candidates=CANDIDATES.filter(bool),
    weight=WEIGHTS,
    at=st.integers(0, 11),
    lift=st.floats(0.0, 2.0),
)
@settings(derandomize=True, max_examples=400)
def test_a_higher_cosine_never_worsens_a_place(
    candidates: list[Candidate], weight: float, at: int, lift: float
) -> None:
    """Raising one candidate's cosines, all else equal, moves it up or leaves it."""
    at %= len(candidates)
    chosen = candidates[at]
    lifted = chosen._replace(
        space_scores=tuple(
            score._replace(cosine=None if score.cosine is None else min(1.0, score.cosine + lift))
            for score in chosen.space_scores
        ),
    )
    before = [passage.passage_id for passage in ranked(*candidates, weight=weight)]
    candidates[at] = lifted
    after = [passage.passage_id for passage in ranked(*candidates, weight=weight)]

    assert after.index(chosen.passage_id) <= before.index(chosen.passage_id)


@given(candidates=CANDIDATES.filter(bool), weight=WEIGHTS, at=st.integers(0, 11))
@settings(derandomize=True, max_examples=200)
def test_a_higher_bm25_never_worsens_a_place_among_scored_candidates(
    candidates: list[Candidate], weight: float, at: int
) -> None:
    """Raising a BM25 score above 0, all else equal, moves its candidate up or leaves it."""
    at %= len(candidates)
    chosen = candidates[at]
    candidates[at] = chosen._replace(bm25_score=(chosen.bm25_score or 0.0) + 1.0)
    lifted = candidates[at]._replace(bm25_score=(chosen.bm25_score or 0.0) + 5.0)
    before = [passage.passage_id for passage in ranked(*candidates, weight=weight)]
    candidates[at] = lifted
    after = [passage.passage_id for passage in ranked(*candidates, weight=weight)]

    assert after.index(chosen.passage_id) <= before.index(chosen.passage_id)
