"""Puts together what an engine found out about expected passages of one document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from retriever_svc.documents import Document
from retriever_svc.explanations import (
    ListStanding,
    MatchedTerm,
    PassageExplanation,
    PassageOutcome,
)
from retriever_svc.filter_misses import miss_in_words
from retriever_svc.fusion import FusedCandidate
from retriever_svc.searches import SearchRequest
from retriever_svc.searching.candidate_scores import CandidateScores
from retriever_svc.searching.hit_selection import JudgedHit
from retriever_svc.searching.made_lists import MadeLists
from retriever_svc.store.rows import PassageRow


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Holds what a search made of its candidates, nothing cut after the fusion."""

    made: MadeLists
    fused: Mapping[int, FusedCandidate]
    judged: Mapping[int, JudgedHit]


@dataclass(frozen=True, slots=True)
class PassageFacts:
    """Holds what is known of one expected passage, found or not."""

    row: PassageRow
    scores: CandidateScores
    standings: Sequence[ListStanding]
    """Where whole lists hold it; contributions are 0."""
    matched_terms: Sequence[MatchedTerm]


def explained_passages(
    request: SearchRequest,
    outcome: SearchOutcome,
    document: Document,
    facts: Sequence[PassageFacts],
    *,
    kept_out: bool,
) -> tuple[PassageExplanation, ...]:
    """Returns the passages found in fused order, then the others by place in the document.

    `kept_out`: the filter of the request keeps out the document.
    """
    explained = [_explained(request, outcome, document, one, kept_out=kept_out) for one in facts]
    explained.sort(key=lambda one: (one.fused_rank is None, one.fused_rank or one.chunk_index))
    return tuple(explained)


def _explained(
    request: SearchRequest,
    search: SearchOutcome,
    document: Document,
    facts: PassageFacts,
    *,
    kept_out: bool,
) -> PassageExplanation:
    passage_id, _, passage = facts.row
    judged = search.judged.get(passage_id)
    outcome = PassageOutcome.IN_NO_LIST if judged is None else judged.outcome
    if kept_out:
        outcome = PassageOutcome.FILTERED_OUT
    candidate = search.fused.get(passage_id)
    return PassageExplanation(
        passage_id=passage_id,
        external_id=document.external_id,
        chunk_index=passage.chunk_index,
        heading_path=passage.heading_path,
        location=passage.location,
        outcome=outcome,
        detail=_detail(request, outcome, judged, document),
        fused_rank=None if judged is None else judged.hit.fused_rank,
        fused_score=None if candidate is None else candidate.score,
        standings=_with_contributions(facts.standings, search.made, candidate),
        matched_terms=tuple(sorted(facts.matched_terms, key=lambda one: (-one.weight, one.term))),
        space_scores=facts.scores.space_scores,
        bm25_score=facts.scores.bm25_score,
        term_share=facts.scores.term_share,
        threshold_index=judged.miss.threshold_index if judged and judged.miss else None,
    )


def _with_contributions(
    standings: Sequence[ListStanding], made: MadeLists, candidate: FusedCandidate | None
) -> tuple[ListStanding, ...]:
    """Adds what the lists of the search itself gave to the passage; None got nothing."""
    contributions: dict[tuple[int, str], float] = {}
    for place in () if candidate is None else candidate.places:
        described = made.descriptions[place.list_index]
        contributions[described.variant_index, described.space_id] = place.contribution
    return tuple(
        replace(
            standing,
            contribution=contributions.get((standing.variant_index, standing.space_id), 0.0),
        )
        for standing in standings
    )


def _detail(
    request: SearchRequest,
    outcome: PassageOutcome,
    judged: JudgedHit | None,
    document: Document,
) -> str:
    match outcome:
        case PassageOutcome.RETURNED:
            assert judged is not None
            return f"returned; place {judged.hit.fused_rank} after fusion"
        case PassageOutcome.FILTERED_OUT:
            assert request.filter is not None
            return f"the filter {miss_in_words(document, request.filter)}"
        case PassageOutcome.IN_NO_LIST:
            return f"no list holds it among its first {request.candidate_count}"
        case PassageOutcome.OVER_DOCUMENT_BOUND:
            return f"{request.passages_per_document} better passages of its document are returned"
        case PassageOutcome.OVER_LIMIT:
            unit = "documents" if request.group_by_document else "passages"
            return f"{request.limit} better {unit} are returned"
        case PassageOutcome.BEFORE_OFFSET:
            return f"stands on an earlier page: the offset is {request.offset}"
        case PassageOutcome.UNDER_THRESHOLD:
            assert judged is not None
            assert judged.miss is not None
            return f"thresholds[{judged.miss.threshold_index}]: {judged.miss.in_words}"
