"""Decides which fused candidates become hits: thresholds, bound per document, groups, pages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retriever_svc.documents import Document
from retriever_svc.explanations import PassageOutcome
from retriever_svc.searches import PassageHit, SearchRequest
from retriever_svc.searching.candidate_scores import CandidateScores


@dataclass(frozen=True, slots=True)
class Miss:
    """Names the threshold that a passage misses, by its position, and says how."""

    threshold_index: int
    in_words: str


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """Says what becomes of one candidate."""

    hit: PassageHit
    outcome: PassageOutcome
    miss: Miss | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Holds the hits of a page, and what became of every candidate where that was judged."""

    hits: tuple[PassageHit, ...]
    total_count: int
    """Hits of all pages; documents where they are grouped."""
    judged: tuple[JudgedHit, ...] = ()
    """Those of all pages in their order, then the dropped ones in fused order."""

    @property
    def drop_counts(self) -> dict[int, int]:
        """Returns how many candidates each threshold dropped, by its position."""
        if not self.judged:
            return {}
        return dict(
            sorted(Counter(one.miss.threshold_index for one in self.judged if one.miss).items())
        )


def selected(
    hits: Iterable[tuple[PassageHit, CandidateScores]], request: SearchRequest
) -> Selection:
    """Judges all candidates of a search, given in fused order.

    Pages are cut from one order that does not depend on where they begin and end.
    """
    kept: list[PassageHit] = []
    dropped: list[JudgedHit] = []
    per_document: Counter[str] = Counter()
    for hit, scores in hits:
        document_id = hit.document.external_id
        miss = missed_threshold(request, hit.document, scores)
        if miss is not None:
            dropped.append(JudgedHit(hit, PassageOutcome.UNDER_THRESHOLD, miss))
        elif per_document[document_id] == request.passages_per_document:
            dropped.append(JudgedHit(hit, PassageOutcome.OVER_DOCUMENT_BOUND))
        else:
            per_document[document_id] += 1
            kept.append(hit)
    units = _by_document(kept) if request.group_by_document else [[hit] for hit in kept]
    judged = [
        JudgedHit(hit, _outcome_at(place, request))
        for place, unit in enumerate(units)
        for hit in unit
    ]
    page = tuple(one.hit for one in judged if one.outcome is PassageOutcome.RETURNED)
    return Selection(page, len(units), (*judged, *dropped))


def missed_threshold(
    request: SearchRequest, document: Document, scores: CandidateScores
) -> Miss | None:
    """Returns the first threshold that the passage misses; None where it misses none."""
    for index, threshold in enumerate(request.thresholds):
        if threshold.counts_for(document, request.context):
            missed = threshold.missed_by(scores.cosines, scores.term_share)
            if missed:
                return Miss(index, missed)
    return None


def _by_document(hits: Sequence[PassageHit]) -> list[list[PassageHit]]:
    groups: dict[str, list[PassageHit]] = {}
    for hit in hits:
        groups.setdefault(hit.document.external_id, []).append(hit)
    return list(groups.values())


def _outcome_at(place: int, request: SearchRequest) -> PassageOutcome:
    if place < request.offset:
        return PassageOutcome.BEFORE_OFFSET
    if request.limit is not None and place >= request.offset + request.limit:
        return PassageOutcome.OVER_LIMIT
    return PassageOutcome.RETURNED
