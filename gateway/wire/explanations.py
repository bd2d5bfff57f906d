"""Expectations from messages of the gateway, and explanations to them."""

from __future__ import annotations

from gateway.explanations import (
    Expectation,
    ExpectationOutcome,
    ExplainedPassage,
    ListStanding,
    RerankStep,
    SearchExplanation,
)
from gateway.reranking import FormulaParts
from gateway.rewriting import RewriteOrigin
from gateway.wire.receipt import to_receipt
from gateway.wire.search import to_source, to_space_score
from justesse.gateway.v1 import explanations_pb2 as pb

_ORIGINS = {
    RewriteOrigin.ORIGINAL: pb.REWRITE_ORIGIN_ORIGINAL,
    RewriteOrigin.MODEL: pb.REWRITE_ORIGIN_MODEL,
    RewriteOrigin.CACHE: pb.REWRITE_ORIGIN_CACHE,
    RewriteOrigin.RULES: pb.REWRITE_ORIGIN_RULES,
}
_OUTCOMES = {
    ExpectationOutcome.RETURNED: pb.EXPECTATION_OUTCOME_RETURNED,
    ExpectationOutcome.FILTERED_OUT: pb.EXPECTATION_OUTCOME_FILTERED_OUT,
    ExpectationOutcome.IN_NO_LIST: pb.EXPECTATION_OUTCOME_IN_NO_LIST,
    ExpectationOutcome.UNDER_THRESHOLD: pb.EXPECTATION_OUTCOME_UNDER_THRESHOLD,
    ExpectationOutcome.OVER_DOCUMENT_BOUND: pb.EXPECTATION_OUTCOME_OVER_DOCUMENT_BOUND,
    ExpectationOutcome.OVER_CANDIDATE_WINDOW: pb.EXPECTATION_OUTCOME_OVER_CANDIDATE_WINDOW,
    ExpectationOutcome.OVER_LIMIT: pb.EXPECTATION_OUTCOME_OVER_LIMIT,
    ExpectationOutcome.CHANGED: pb.EXPECTATION_OUTCOME_CHANGED,
}


def expectation_from(request: pb.ExplainSearchRequest) -> Expectation:
    """Reads what was expected; the search in the request is read as any search."""
    return Expectation(
        request.external_id, request.chunk_index if request.HasField("chunk_index") else None
    )


def to_explanation_response(
    explanation: SearchExplanation,
) -> pb.ExplainSearchResponse:
    """Writes an explanation with its receipt."""
    document = explanation.document
    return pb.ExplainSearchResponse(
        source=to_source(document.document, document.update_time),
        passage_count=document.passage_count,
        passages=map(_to_passage, explanation.passages),
        searched_queries=explanation.wordings.texts,
        rewrite_origin=_ORIGINS[explanation.wordings.origin],
        standalone_question=explanation.wordings.standalone_question,
        lists=[
            pb.SearchedList(
                list_name=made.list_name,
                query_index=made.query_index,
                hit_count=made.hit_count,
                exact=made.exact,
            )
            for made in explanation.lists
        ],
        list_length=explanation.list_length,
        candidate_count=explanation.candidate_count,
        limit=explanation.question.page_length,
        documents_changed=explanation.documents_changed,
        receipt=to_receipt(explanation.receipt),
    )


def _to_passage(passage: ExplainedPassage) -> pb.ExplainedPassage:
    found = passage.retrieval
    return pb.ExplainedPassage(
        passage_id=found.passage_id,
        chunk_index=found.chunk_index,
        heading_path=found.heading_path,
        location=found.location,
        outcome=_OUTCOMES[passage.outcome],
        detail=passage.detail,
        rank=passage.rank,
        standings=[_to_standing(standing, found.fused_score) for standing in found.standings],
        fused_rank=found.fused_rank,
        fused_score=found.fused_score,
        matched_terms=[
            pb.MatchedTerm(term=matched.term, weight=matched.weight)
            for matched in found.matched_terms
        ],
        space_scores=map(to_space_score, found.space_scores),
        bm25_score=found.bm25_score,
        rerank=None if passage.rerank is None else _to_rerank_step(passage.rerank),
    )


def _to_standing(standing: ListStanding, fused_score: float | None) -> pb.ListStanding:
    return pb.ListStanding(
        list_name=standing.list_name,
        query_index=standing.query_index,
        rank=standing.rank,
        effective_rank=standing.effective_rank,
        score=standing.score,
        contribution=standing.contribution,
        share=standing.share_of(fused_score),
    )


def _to_rerank_step(step: RerankStep) -> pb.RerankStep:
    return pb.RerankStep(
        rank_before=step.rank_before,
        rank_after=step.rank_after,
        score=step.score,
        formula_parts=None if step.formula_parts is None else _to_parts(step.formula_parts),
        provider=step.provider,
        model=step.model,
    )


def _to_parts(parts: FormulaParts) -> pb.FormulaParts:
    return pb.FormulaParts(
        space_id=parts.space_id,
        similarity_share=parts.similarity_share,
        lexical_share=parts.lexical_share,
        similarity_weight=parts.similarity_weight,
    )
