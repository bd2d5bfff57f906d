"""Why a search returned what was expected of it, or why not."""

from dataclasses import dataclass
from enum import StrEnum

from justesse.client.receipt import Receipt, receipt_from
from justesse.client.search_result import Source, SpaceScore, source_from, space_score_from
from justesse.gateway.v1 import explanations_pb2 as pb


class ExpectationOutcome(StrEnum):
    """What became of an expected passage."""

    RETURNED = "returned"
    FILTERED_OUT = "filtered_out"
    IN_NO_LIST = "in_no_list"
    """No list that was made holds it before its cut."""
    UNDER_THRESHOLD = "under_threshold"
    OVER_DOCUMENT_BOUND = "over_document_bound"
    """Better passages of its document filled the bound per document."""
    OVER_CANDIDATE_WINDOW = "over_candidate_window"
    """Better passages filled the window of candidates."""
    OVER_LIMIT = "over_limit"
    CHANGED = "changed"
    """Its document changed between the search and its explanation; ask again."""
    UNKNOWN = "unknown"
    """An outcome that is newer than this client."""


class RewriteOrigin(StrEnum):
    """Where the wordings after the first come from."""

    ORIGINAL = "original"
    """There are none; the receipt says why."""
    MODEL = "model"
    CACHE = "cache"
    RULES = "rules"
    UNKNOWN = "unknown"
    """An origin that is newer than this client."""


@dataclass(frozen=True, slots=True)
class ListStanding:
    """A place in a list that is not cut, made without approximation."""

    list_name: str
    """"bm25" or the id of a space."""
    query_index: int
    """Position in `SearchExplanation.searched_queries` of the wording the list was made for."""
    rank: int
    """From 1; for a passage that the filter keeps out, among all passages."""
    effective_rank: float
    """The rank the fusion counts with: rank * N / n in a list drawn from n of N passages."""
    score: float
    """What the list is ordered by: BM25 score, or cosine, of the wording."""
    contribution: float
    """What the place added to the fused score; 0 where the list was cut before it."""
    share: float
    """The contribution as a part of the fused score, 0 to 1."""


@dataclass(frozen=True, slots=True)
class MatchedTerm:
    """A term, as the analysis leaves it, and its part of the BM25 score."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class FormulaParts:
    """similarity_weight * similarity_share + (1 - similarity_weight) * lexical_share."""

    space_id: str
    similarity_share: float | None
    """0 for the smallest and 1 for the largest similarity among the candidates of the space."""
    lexical_share: float | None
    """BM25 score over the best one of all candidates."""
    similarity_weight: float


@dataclass(frozen=True, slots=True)
class RerankStep:
    """What reranking did; ranks count among the candidates, from 1."""

    rank_before: int
    rank_after: int
    score: float | None
    """Comparable inside one answer only; None where the passage kept its place."""
    formula_parts: FormulaParts | None
    """None where a model gave the score."""
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class ExplainedPassage:
    """What a search did with one passage."""

    passage_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    location: str
    outcome: ExpectationOutcome
    detail: str
    """The outcome in words, with the numbers that decided."""
    rank: int | None
    """Place in the final order, beyond the limit too; None where it was lost before."""
    standings: tuple[ListStanding, ...]
    fused_rank: int | None
    fused_score: float | None
    """An ordering, not a relevance."""
    matched_terms: tuple[MatchedTerm, ...]
    """Of the original wording, heaviest first."""
    space_scores: tuple[SpaceScore, ...]
    bm25_score: float
    rerank: RerankStep | None
    """None where it was not reranked."""


@dataclass(frozen=True, slots=True)
class SearchedList:
    """A list that was fused."""

    list_name: str
    query_index: int
    hit_count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """What a search did with the expected passages of a document."""

    source: Source
    passage_count: int
    """Passages the document has."""
    passages: tuple[ExplainedPassage, ...]
    """The expected ones, those with the best places first."""
    searched_queries: tuple[str, ...]
    rewrite_origin: RewriteOrigin
    standalone_question: str
    lists: tuple[SearchedList, ...]
    list_length: int
    """Length at which each list was cut before fusion."""
    candidate_count: int
    """Candidates that were left to be reranked."""
    limit: int
    documents_changed: bool
    """Documents changed between the search and its explanation."""
    receipt: Receipt


_OUTCOMES = {
    pb.EXPECTATION_OUTCOME_RETURNED: ExpectationOutcome.RETURNED,
    pb.EXPECTATION_OUTCOME_FILTERED_OUT: ExpectationOutcome.FILTERED_OUT,
    pb.EXPECTATION_OUTCOME_IN_NO_LIST: ExpectationOutcome.IN_NO_LIST,
    pb.EXPECTATION_OUTCOME_UNDER_THRESHOLD: ExpectationOutcome.UNDER_THRESHOLD,
    pb.EXPECTATION_OUTCOME_OVER_DOCUMENT_BOUND: ExpectationOutcome.OVER_DOCUMENT_BOUND,
    pb.EXPECTATION_OUTCOME_OVER_CANDIDATE_WINDOW: ExpectationOutcome.OVER_CANDIDATE_WINDOW,
    pb.EXPECTATION_OUTCOME_OVER_LIMIT: ExpectationOutcome.OVER_LIMIT,
    pb.EXPECTATION_OUTCOME_CHANGED: ExpectationOutcome.CHANGED,
}
_ORIGINS = {
    pb.REWRITE_ORIGIN_ORIGINAL: RewriteOrigin.ORIGINAL,
    pb.REWRITE_ORIGIN_MODEL: RewriteOrigin.MODEL,
    pb.REWRITE_ORIGIN_CACHE: RewriteOrigin.CACHE,
    pb.REWRITE_ORIGIN_RULES: RewriteOrigin.RULES,
}


def search_explanation_from(message: pb.ExplainSearchResponse) -> SearchExplanation:
    """Decodes an explanation."""
    return SearchExplanation(
        source=source_from(message.source),
        passage_count=message.passage_count,
        passages=tuple(map(_passage_from, message.passages)),
        searched_queries=tuple(message.searched_queries),
        rewrite_origin=_ORIGINS.get(message.rewrite_origin, RewriteOrigin.UNKNOWN),
        standalone_question=message.standalone_question,
        lists=tuple(
            SearchedList(made.list_name, made.query_index, made.hit_count, made.exact)
            for made in message.lists
        ),
        list_length=message.list_length,
        candidate_count=message.candidate_count,
        limit=message.limit,
        documents_changed=message.documents_changed,
        receipt=receipt_from(message.receipt),
    )


def _passage_from(message: pb.ExplainedPassage) -> ExplainedPassage:
    return ExplainedPassage(
        passage_id=message.passage_id,
        chunk_index=message.chunk_index,
        heading_path=tuple(message.heading_path),
        location=message.location,
        outcome=_OUTCOMES.get(message.outcome, ExpectationOutcome.UNKNOWN),
        detail=message.detail,
        rank=message.rank if message.HasField("rank") else None,
        standings=tuple(map(_standing_from, message.standings)),
        fused_rank=message.fused_rank if message.HasField("fused_rank") else None,
        fused_score=message.fused_score if message.HasField("fused_score") else None,
        matched_terms=tuple(
            MatchedTerm(matched.term, matched.weight) for matched in message.matched_terms
        ),
        space_scores=tuple(map(space_score_from, message.space_scores)),
        bm25_score=message.bm25_score,
        rerank=_rerank_step_from(message.rerank) if message.HasField("rerank") else None,
    )


def _standing_from(message: pb.ListStanding) -> ListStanding:
    return ListStanding(
        list_name=message.list_name,
        query_index=message.query_index,
        rank=message.rank,
        effective_rank=message.effective_rank,
        score=message.score,
        contribution=message.contribution,
        share=message.share,
    )


def _rerank_step_from(message: pb.RerankStep) -> RerankStep:
    return RerankStep(
        rank_before=message.rank_before,
        rank_after=message.rank_after,
        score=message.score if message.HasField("score") else None,
        formula_parts=(
            _formula_parts_from(message.formula_parts)
            if message.HasField("formula_parts")
            else None
        ),
        provider=message.provider,
        model=message.model,
    )


def _formula_parts_from(message: pb.FormulaParts) -> FormulaParts:
    return FormulaParts(
        space_id=message.space_id,
        similarity_share=(
            message.similarity_share if message.HasField("similarity_share") else None
        ),
        lexical_share=message.lexical_share if message.HasField("lexical_share") else None,
        similarity_weight=message.similarity_weight,
    )
