"""Explanations of searches."""

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import search_pb2
from retriever_svc.explanations import (
    Explanation,
    ExplanationRequest,
    PassageExplanation,
    PassageOutcome,
)
from retriever_svc.wire.search_requests import search_request_from
from retriever_svc.wire.search_responses import score_message

_OUTCOMES = {
    PassageOutcome.RETURNED: search_pb2.PASSAGE_OUTCOME_RETURNED,
    PassageOutcome.FILTERED_OUT: search_pb2.PASSAGE_OUTCOME_FILTERED_OUT,
    PassageOutcome.IN_NO_LIST: search_pb2.PASSAGE_OUTCOME_IN_NO_LIST,
    PassageOutcome.UNDER_THRESHOLD: search_pb2.PASSAGE_OUTCOME_UNDER_THRESHOLD,
    PassageOutcome.OVER_DOCUMENT_BOUND: search_pb2.PASSAGE_OUTCOME_OVER_DOCUMENT_BOUND,
    PassageOutcome.OVER_LIMIT: search_pb2.PASSAGE_OUTCOME_OVER_LIMIT,
    PassageOutcome.BEFORE_OFFSET: search_pb2.PASSAGE_OUTCOME_BEFORE_OFFSET,
}
# Every number of so many digits is an id the store can hold.
_MAX_DIGITS = 18


def explanation_request_from(message: search_pb2.ExplainPassageRequest) -> ExplanationRequest:
    """Returns the request, its search's fields named as in a search. Raises InvalidArgument."""
    search = search_request_from(message.search)
    match message.WhichOneof("target"):
        case "passage_id":
            return ExplanationRequest(search, passage_id=_passage_id_from(message.passage_id))
        case "external_id":
            return ExplanationRequest(search, external_id=message.external_id)
        case _:
            raise InvalidArgument(
                "target is not set; give a passage_id or an external_id", field="target"
            )


def explanation_response(explanation: Explanation) -> search_pb2.ExplainPassageResponse:
    """Returns the message of an explanation."""
    return search_pb2.ExplainPassageResponse(
        passages=[_passage_message(passage) for passage in explanation.passages],
        applied_seq=explanation.applied_seq,
    )


def _passage_id_from(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        raise InvalidArgument(
            f"passage_id is {text!r}; expected an id that a search returned", field="passage_id"
        )
    return int(text)


def _passage_message(passage: PassageExplanation) -> search_pb2.PassageExplanation:
    return search_pb2.PassageExplanation(
        passage_id=str(passage.passage_id),
        external_id=passage.external_id,
        chunk_index=passage.chunk_index,
        heading_path=passage.heading_path,
        location=passage.location,
        outcome=_OUTCOMES[passage.outcome],
        detail=passage.detail,
        fused_rank=passage.fused_rank,
        fused_score=passage.fused_score,
        standings=[
            search_pb2.ListStanding(
                variant_index=standing.variant_index,
                space_id=standing.space_id,
                rank=standing.rank,
                effective_rank=standing.effective_rank,
                score=standing.score,
                contribution=standing.contribution,
            )
            for standing in passage.standings
        ],
        matched_terms=[
            search_pb2.MatchedTerm(term=matched.term, weight=matched.weight)
            for matched in passage.matched_terms
        ],
        space_scores=[score_message(score) for score in passage.space_scores],
        bm25_score=passage.bm25_score,
        term_share=passage.term_share,
        threshold_index=passage.threshold_index,
    )
