"""Expectations and explanations in JSON."""

from __future__ import annotations

from pydantic import BaseModel, Field, StrictInt

from gateway.explanations import Expectation, ExplainedPassage, RerankStep, SearchExplanation
from gateway.http.models.receipt import ReceiptBody, to_receipt_body
from gateway.http.models.search import (
    SearchBody,
    SourceBody,
    SpaceScoreBody,
    to_source_body,
    to_space_score_body,
)


class ExplainBody(SearchBody):
    """A question to a workspace, and what was expected of it."""

    external_id: str = Field(description="id of the expected document")
    chunk_index: StrictInt | None = Field(
        default=None,
        description="position of the expected passage, from 0; all passages if absent",
    )

    def expectation(self) -> Expectation:
        """Returns what was expected."""
        return Expectation(self.external_id, self.chunk_index)


class ListStandingBody(BaseModel):
    """A place in a list that is not cut; `share` is the part of the fused score, 0 to 1."""

    list_name: str
    query_index: int
    rank: int
    effective_rank: float
    score: float
    contribution: float
    share: float


class MatchedTermBody(BaseModel):
    """A term of question and passage, and its part of the BM25 score."""

    term: str
    weight: float


class FormulaPartsBody(BaseModel):
    """similarity_weight * similarity_share + (1 - similarity_weight) * lexical_share."""

    space_id: str
    similarity_share: float | None = None
    lexical_share: float | None = None
    similarity_weight: float


class RerankStepBody(BaseModel):
    """Places among the candidates before and after reranking."""

    rank_before: int
    rank_after: int
    score: float | None = None
    formula_parts: FormulaPartsBody | None = None
    provider: str
    model: str


class ExplainedPassageBody(BaseModel):
    """What became of a passage; `rank` is its place in the final order, beyond the limit too."""

    passage_id: str
    chunk_index: int
    heading_path: list[str]
    location: str
    outcome: str
    detail: str
    rank: int | None = None
    standings: list[ListStandingBody]
    fused_rank: int | None = None
    fused_score: float | None = None
    matched_terms: list[MatchedTermBody]
    space_scores: list[SpaceScoreBody]
    bm25_score: float
    rerank: RerankStepBody | None = None


class SearchedListBody(BaseModel):
    """A list that was fused."""

    list_name: str
    query_index: int
    hit_count: int
    exact: bool


class SearchExplanationBody(BaseModel):
    """What a search did with the expected passages, those with the best places first."""

    source: SourceBody
    passage_count: int
    passages: list[ExplainedPassageBody]
    searched_queries: list[str]
    rewrite_origin: str
    standalone_question: str
    lists: list[SearchedListBody]
    list_length: int
    candidate_count: int
    limit: int
    documents_changed: bool
    receipt: ReceiptBody


def to_search_explanation_body(explanation: SearchExplanation) -> SearchExplanationBody:
    """Writes an explanation."""
    document = explanation.document
    return SearchExplanationBody(
        source=to_source_body(document.document, document.update_time),
        passage_count=document.passage_count,
        passages=[_to_passage_body(passage) for passage in explanation.passages],
        searched_queries=list(explanation.wordings.texts),
        rewrite_origin=explanation.wordings.origin.name,
        standalone_question=explanation.wordings.standalone_question,
        lists=[
            SearchedListBody(
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
        receipt=to_receipt_body(explanation.receipt),
    )


def _to_passage_body(passage: ExplainedPassage) -> ExplainedPassageBody:
    found = passage.retrieval
    return ExplainedPassageBody(
        passage_id=found.passage_id,
        chunk_index=found.chunk_index,
        heading_path=list(found.heading_path),
        location=found.location,
        outcome=passage.outcome.name,
        detail=passage.detail,
        rank=passage.rank,
        standings=[
            ListStandingBody(
                list_name=standing.list_name,
                query_index=standing.query_index,
                rank=standing.rank,
                effective_rank=standing.effective_rank,
                score=standing.score,
                contribution=standing.contribution,
                share=standing.share_of(found.fused_score),
            )
            for standing in found.standings
        ],
        fused_rank=found.fused_rank,
        fused_score=found.fused_score,
        matched_terms=[
            MatchedTermBody(term=matched.term, weight=matched.weight)
            for matched in found.matched_terms
        ],
        space_scores=[to_space_score_body(score) for score in found.space_scores],
        bm25_score=found.bm25_score,
        rerank=None if passage.rerank is None else _to_rerank_body(passage.rerank),
    )


def _to_rerank_body(step: RerankStep) -> RerankStepBody:
    parts = step.formula_parts
    return RerankStepBody(
        rank_before=step.rank_before,
        rank_after=step.rank_after,
        score=step.score,
        formula_parts=None
        if parts is None
        else FormulaPartsBody(
            space_id=parts.space_id,
            similarity_share=parts.similarity_share,
            lexical_share=parts.lexical_share,
            similarity_weight=parts.similarity_weight,
        ),
        provider=step.provider,
        model=step.model,
    )
