"""Messages of the reranker contract: decoded whole, refused by name of the field."""

import math

import pytest
from google.protobuf import json_format

from chassis.errors import InvalidArgument
from justesse.reranker.v1 import reranker_pb2 as pb
from reranker_svc.implementation import Implementation
from reranker_svc.limits import RequestLimits
from reranker_svc.reranking import (
    Candidate,
    RankedPassage,
    Ranking,
    RerankRequest,
    SpaceScore,
    StageOutcome,
    StageReport,
)
from reranker_svc.wire import rerank_request_from, to_response

LIMITS = RequestLimits()


def with_candidate(message: pb.Candidate) -> pb.RerankPassagesRequest:
    return pb.RerankPassagesRequest(
        question="prix", candidates=[pb.Candidate(passage_id="first"), message]
    )


def with_space(*scores: pb.SpaceScore) -> pb.RerankPassagesRequest:
    return with_candidate(pb.Candidate(passage_id="p", space_scores=scores))


def test_a_full_request_is_decoded_field_by_field() -> None:
    """Absent scores become None; a score of 0 stays a score."""
    message = pb.RerankPassagesRequest(
        workspace="acme",
        question="Quel est le prix ?",
        candidates=[
            pb.Candidate(
                passage_id="p2",
                title="Tarifs",
                text="Le prix est de 3 euros.",
                space_scores=[
                    pb.SpaceScore(space_id="a", cosine=0.5, best_window_cosine=0.75),
                    pb.SpaceScore(space_id="b", cosine=0.0),
                    pb.SpaceScore(space_id="c"),
                ],
                bm25_score=0.0,
            ),
            pb.Candidate(passage_id="p1"),
        ],
        model_candidate_count=10,
    )

    assert rerank_request_from(message, LIMITS) == RerankRequest(
        workspace="acme",
        question="Quel est le prix ?",
        candidates=(
            Candidate(
                "p2",
                "Tarifs",
                "Le prix est de 3 euros.",
                (SpaceScore("a", 0.5, 0.75), SpaceScore("b", 0.0), SpaceScore("c")),
                0.0,
            ),
            Candidate("p1"),
        ),
        model_candidate_count=10,
    )


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (pb.RerankPassagesRequest(), "question"),
        (pb.RerankPassagesRequest(question=" \n"), "question"),
        (pb.RerankPassagesRequest(question="é" * 4097), "question"),
        (
            pb.RerankPassagesRequest(
                question="prix", candidates=[pb.Candidate(passage_id=str(i)) for i in range(201)]
            ),
            "candidates",
        ),
        (
            pb.RerankPassagesRequest(question="prix", model_candidate_count=-1),
            "model_candidate_count",
        ),
        (with_candidate(pb.Candidate(passage_id=" ")), "candidates[1].passage_id"),
        (with_candidate(pb.Candidate(passage_id="first")), "candidates[1].passage_id"),
        (
            with_candidate(pb.Candidate(passage_id="p", bm25_score=math.nan)),
            "candidates[1].bm25_score",
        ),
        (
            with_candidate(pb.Candidate(passage_id="p", bm25_score=math.inf)),
            "candidates[1].bm25_score",
        ),
        (with_candidate(pb.Candidate(passage_id="p", bm25_score=-0.5)), "candidates[1].bm25_score"),
        (with_space(pb.SpaceScore(cosine=0.5)), "candidates[1].space_scores[0].space_id"),
        (
            with_space(pb.SpaceScore(space_id="a"), pb.SpaceScore(space_id="a")),
            "candidates[1].space_scores[1].space_id",
        ),
        (
            with_space(pb.SpaceScore(space_id="a", cosine=math.nan)),
            "candidates[1].space_scores[0].cosine",
        ),
        (
            with_space(pb.SpaceScore(space_id="a", cosine=-math.inf)),
            "candidates[1].space_scores[0].cosine",
        ),
        (
            with_space(pb.SpaceScore(space_id="a", cosine=1.5)),
            "candidates[1].space_scores[0].cosine",
        ),
        (
            with_space(pb.SpaceScore(space_id="a", cosine=0.5, best_window_cosine=math.nan)),
            "candidates[1].space_scores[0].best_window_cosine",
        ),
    ],
)
def test_a_request_beyond_a_bound_is_refused(message: pb.RerankPassagesRequest, field: str) -> None:
    """The refusal names the field, for people and for programs."""
    with pytest.raises(InvalidArgument) as refusal:
        rerank_request_from(message, LIMITS)

    assert refusal.value.field == field
    assert refusal.value.violations[0].field == field


def test_a_request_at_its_bounds_is_taken() -> None:
    """Bounds belong to what is allowed; a cosine may be 1 and a rounding error."""
    message = pb.RerankPassagesRequest(
        question="é" * 4096,
        candidates=[
            pb.Candidate(
                passage_id=str(number),
                space_scores=[pb.SpaceScore(space_id="a", cosine=1.000001)],
            )
            for number in range(200)
        ],
    )

    assert len(rerank_request_from(message, LIMITS).candidates) == 200


def test_implementations_are_read_in_their_order() -> None:
    """None is the service's own order."""
    named = pb.RerankPassagesRequest(
        question="prix",
        implementations=[pb.IMPLEMENTATION_ENDPOINT, pb.IMPLEMENTATION_FORMULA],
    )

    assert rerank_request_from(named, LIMITS).implementations == (
        Implementation.ENDPOINT,
        Implementation.FORMULA,
    )
    assert (
        rerank_request_from(pb.RerankPassagesRequest(question="prix"), LIMITS).implementations == ()
    )


@pytest.mark.parametrize("values", [[0], [4, 4], [3, 99]])
def test_an_unknown_or_repeated_implementation_is_refused(values: list[int]) -> None:
    """The message says which names there are."""
    message = json_format.ParseDict(
        {"question": "prix", "implementations": values}, pb.RerankPassagesRequest()
    )

    with pytest.raises(InvalidArgument, match="endpoint, folder, formula") as caught:
        rerank_request_from(message, LIMITS)

    last = len(values) - 1
    assert [violation.field for violation in caught.value.violations] == [
        f"implementations[{last}]"
    ]


@pytest.mark.parametrize("outcome", StageOutcome)
def test_a_ranking_is_encoded_field_by_field(outcome: StageOutcome) -> None:
    """Order, scores and report arrive; a place without a score has none."""
    report = StageReport(
        outcome,
        reason="NO_SCORES",
        detail="nothing to sort by",
        provider="embedded",
        model="formula",
        latency_ms=0.5,
        input_token_count=3,
        output_token_count=4,
        cost=0.125,
        currency="EUR",
    )
    ranking = Ranking((RankedPassage("b", 0.0), RankedPassage("a")), report)

    message = to_response(ranking)

    assert [passage.passage_id for passage in message.passages] == ["b", "a"]
    assert [passage.HasField("score") for passage in message.passages] == [True, False]
    assert not message.HasField("formula_alone_for_s")
    assert pb.StageOutcome.Name(message.report.outcome) == f"STAGE_OUTCOME_{outcome.name}"
    assert message.report == pb.StageReport(
        outcome=message.report.outcome,
        reason="NO_SCORES",
        detail="nothing to sort by",
        provider="embedded",
        model="formula",
        latency_ms=0.5,
        input_token_count=3,
        output_token_count=4,
        cost=0.125,
        currency="EUR",
    )
    assert not to_response(Ranking((), StageReport(outcome))).report.HasField("cost")
