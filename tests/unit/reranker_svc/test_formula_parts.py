"""What a score of the embedded formula is made of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.cost_ledger import CostLedger
from chassis.metrics import Metrics
from justesse.reranker.v1 import reranker_pb2 as pb
from ranking_formula.formula import rank_by_formula
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.reranking import (
    Candidate,
    FormulaParts,
    RankedPassage,
    RerankRequest,
    SpaceScore,
)
from reranker_svc.usage import Usage
from reranker_svc.wire import to_response

A, B = "embedded/e5@1/384", "mistral/embed@1/1024"


def candidate(
    passage_id: str, cosine: float | None, bm25: float | None, space: str = A
) -> Candidate:
    scores = () if cosine is None else (SpaceScore(space, cosine),)
    return Candidate(passage_id, space_scores=scores, bm25_score=bm25)


def parts(*candidates: Candidate, weight: float = 0.75) -> dict[str, FormulaParts | None]:
    passages = rank_by_formula(candidates, similarity_weight=weight, include_parts=True)
    return {passage.passage_id: passage.formula_parts for passage in passages}


def test_parts_are_the_terms_of_the_formula() -> None:
    """Known values: d between the extremes of the space, b over the best BM25, the weight."""
    found = parts(candidate("a", 0.5, 1.0), candidate("b", 1.0, None), candidate("c", 0.0, 4.0))

    assert found == {
        "a": FormulaParts(A, 0.5, 0.25, 0.75),
        "b": FormulaParts(A, 1.0, 0.0, 0.75),
        "c": FormulaParts(A, 0.0, 1.0, 0.75),
    }


def test_a_part_that_nobody_has_is_absent_and_weighs_nothing() -> None:
    """Without BM25 the weight is 1, without cosines 0."""
    assert parts(candidate("a", 0.8, None)) == {"a": FormulaParts(A, 1.0, None, 1.0)}
    assert parts(candidate("a", None, 2.0)) == {"a": FormulaParts("", None, 1.0, 0.0)}
    assert parts(candidate("a", None, None)) == {"a": None}


scored = st.tuples(
    st.none() | st.floats(-1, 1, width=32),
    st.none() | st.floats(0, 50, width=32),
    st.sampled_from([A, B]),
)


@settings(derandomize=True, max_examples=60)
@given(st.lists(scored, max_size=12), st.floats(0, 1))
def test_parts_add_up_and_change_no_place(
    given_scores: list[tuple[float | None, float | None, str]], weight: float
) -> None:
    """Asked for or not, places and scores are equal; each score is what its parts say."""
    candidates = [candidate(str(at), *scores) for at, scores in enumerate(given_scores)]
    plain = rank_by_formula(candidates, similarity_weight=weight)
    told = rank_by_formula(candidates, similarity_weight=weight, include_parts=True)

    assert [RankedPassage(one.passage_id, one.score) for one in told] == list(plain)
    for passage in told:
        made_of = passage.formula_parts
        assert (made_of is None) == (passage.score is None)
        if made_of is not None and passage.score is not None:
            weight_used = made_of.similarity_weight
            similar, lexical = made_of.similarity_share or 0.0, made_of.lexical_share or 0.0
            expected = weight_used * similar + (1 - weight_used) * lexical
            assert passage.score == pytest.approx(expected)


@pytest.mark.parametrize("asked", [True, False])
async def test_parts_travel_only_where_they_are_asked_for(asked: bool) -> None:
    """Absent parts stay absent in the message."""
    request = RerankRequest(
        "acme", "prix", (candidate("a", 0.5, None),), include_formula_parts=asked
    )
    ranking = await PassageReranker({}, Usage(Metrics()), CostLedger(None)).rerank(request)
    (message,) = to_response(ranking).passages

    assert message.HasField("formula_parts") is asked
    if asked:
        expected = pb.FormulaParts(space_id=A, similarity_share=1.0, similarity_weight=1.0)
        assert message.formula_parts == expected
