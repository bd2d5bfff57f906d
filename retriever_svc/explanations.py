"""Explanations: what a search did with a passage that was expected of it."""

from dataclasses import dataclass
from enum import StrEnum

from retriever_svc.searches import SearchRequest, SpaceScore


class PassageOutcome(StrEnum):
    """Names what became of an expected passage."""

    RETURNED = "returned"
    FILTERED_OUT = "filtered_out"
    IN_NO_LIST = "in_no_list"
    UNDER_THRESHOLD = "under_threshold"
    OVER_DOCUMENT_BOUND = "over_document_bound"
    OVER_LIMIT = "over_limit"
    BEFORE_OFFSET = "before_offset"


@dataclass(frozen=True, slots=True)
class ExplanationRequest:
    """Asks about one passage, or all passages of a document: exactly one is not None."""

    search: SearchRequest
    passage_id: int | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class ListStanding:
    """Says where a list holds the passage if it is not cut and made without approximation."""

    variant_index: int
    space_id: str
    """Empty for BM25."""
    rank: int
    """From 1; for a passage that the filter keeps out, among all passages."""
    effective_rank: float
    """The rank the fusion counts with: rank * N / n in a list drawn from n of N passages."""
    score: float
    """What the list is ordered by: BM25 score, or cosine, of the variant."""
    contribution: float
    """What the place added to the fused score; 0 where the search's own list does not hold it."""


@dataclass(frozen=True, slots=True)
class MatchedTerm:
    """Holds a term of query and passage, and its part, over 0, of the BM25 score."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class PassageExplanation:
    """Says what a search did with one passage."""

    passage_id: int
    external_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    location: str
    outcome: PassageOutcome
    detail: str
    """The outcome in words; never holds query or document text."""
    fused_rank: int | None
    """From 1; None where no list brought it."""
    fused_score: float | None
    standings: tuple[ListStanding, ...]
    matched_terms: tuple[MatchedTerm, ...]
    """Of the original wording, heaviest first."""
    space_scores: tuple[SpaceScore, ...]
    bm25_score: float
    term_share: float | None = None
    """Share of the original wording's terms that it holds; None where the wording has none."""
    threshold_index: int | None = None
    """Position of the threshold that dropped it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Holds the passages found in fused order, then the others by place in the document."""

    passages: tuple[PassageExplanation, ...]
    applied_seq: int
