"""What a search did with a passage that was expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gateway.documents import StoredDocument
from gateway.questions import Question
from gateway.receipt import Receipt
from gateway.reranking import FormulaParts
from gateway.rewriting import Wordings
from gateway.searching import SpaceScore


class ExpectationOutcome(Enum):
    """What became of an expected passage."""

    RETURNED = "returned"
    FILTERED_OUT = "filtered_out"
    IN_NO_LIST = "in_no_list"
    UNDER_THRESHOLD = "under_threshold"
    OVER_DOCUMENT_BOUND = "over_document_bound"
    OVER_CANDIDATE_WINDOW = "over_candidate_window"
    OVER_LIMIT = "over_limit"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The passage at `chunk_index` of a document, from 0; None means all its passages."""

    external_id: str
    chunk_index: int | None = None


@dataclass(frozen=True, slots=True)
class ListStanding:
    """Where a list holds a passage if nothing is cut: "bm25" or a space id, for one wording.

    `effective_rank` is the rank that the fusion counts with, `score` what the list is ordered by.
    `contribution` is 0 where the list was cut before the passage.
    """

    list_name: str
    query_index: int
    rank: int
    effective_rank: float
    score: float
    contribution: float

    def share_of(self, fused_score: float | None) -> float:
        """Returns the contribution as a part of the fused score, 0 to 1."""
        return self.contribution / fused_score if fused_score else 0.0


@dataclass(frozen=True, slots=True)
class MatchedTerm:
    """A term of query and passage, and its part, over 0, of the BM25 score."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class PassageStandings:
    """What the retriever says of a passage: its places, and what became of it up to the fusion.

    `detail` is the outcome in words. Fused rank and score are None where no list brought the
    passage. Terms, cosines and BM25 score are of the original wording.
    """

    passage_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    location: str
    outcome: ExpectationOutcome
    detail: str
    fused_rank: int | None
    fused_score: float | None
    standings: tuple[ListStanding, ...]
    matched_terms: tuple[MatchedTerm, ...]
    space_scores: tuple[SpaceScore, ...]
    bm25_score: float


@dataclass(frozen=True, slots=True)
class DocumentStandings:
    """What the retriever says of the passages of a document, as of change `applied_seq`."""

    passages: tuple[PassageStandings, ...]
    applied_seq: int


@dataclass(frozen=True, slots=True)
class RerankStep:
    """What reranking did with a passage: places among the candidates, from 1, before and after.

    `score` is None where the passage kept its place, `formula_parts` where no formula scored it.
    """

    rank_before: int
    rank_after: int
    score: float | None
    formula_parts: FormulaParts | None
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class ExplainedPassage:
    """What a whole search did with a passage, `detail` being the outcome in words.

    `rank` is the place in the final order, beyond the limit too; None where the passage was lost
    before. `rerank` is None where it was not reranked.
    """

    outcome: ExpectationOutcome
    detail: str
    rank: int | None
    retrieval: PassageStandings
    rerank: RerankStep | None


@dataclass(frozen=True, slots=True)
class SearchedList:
    """A list that was fused: "bm25" or a space id, for the wording at `query_index`."""

    list_name: str
    query_index: int
    hit_count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """What a search did with the expected passages, those with the best places first.

    Lists are cut at `list_length`; `candidate_count` candidates were left to be reranked.
    `documents_changed` says that the store changed between the search and its explanation.
    """

    question: Question
    document: StoredDocument
    passages: tuple[ExplainedPassage, ...]
    wordings: Wordings
    lists: tuple[SearchedList, ...]
    list_length: int
    candidate_count: int
    documents_changed: bool
    receipt: Receipt
