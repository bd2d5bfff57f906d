"""Decides which fused candidates become hits: thresholds, bound per document, limit."""

from collections import Counter
from collections.abc import Iterable, Iterator

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.embedded.searching.candidate_scores import CandidateScores
from retriever_svc.explanations import PassageOutcome
from retriever_svc.filters import fulfils
from retriever_svc.searches import PassageHit, SearchRequest, Threshold


def select_hits(
    hits: Iterable[tuple[PassageHit, CandidateScores]], request: SearchRequest
) -> list[PassageHit]:
    """Returns the hits that stay, in fused order."""
    chosen: list[PassageHit] = []
    for hit, outcome in judged_hits(hits, request):
        if outcome is PassageOutcome.OVER_LIMIT:
            break
        if outcome is PassageOutcome.RETURNED:
            chosen.append(hit)
    return chosen


def judged_hits(
    hits: Iterable[tuple[PassageHit, CandidateScores]], request: SearchRequest
) -> Iterator[tuple[PassageHit, PassageOutcome]]:
    """Yields what becomes of each hit, in fused order."""
    count = 0
    per_document: Counter[str] = Counter()
    for hit, scores in hits:
        document_id = hit.document.external_id
        bound = request.passages_per_document
        if missed_threshold(request, hit.document, scores) is not None:
            yield hit, PassageOutcome.UNDER_THRESHOLD
        elif bound is not None and per_document[document_id] == bound:
            yield hit, PassageOutcome.OVER_DOCUMENT_BOUND
        elif request.limit is not None and count == request.limit:
            yield hit, PassageOutcome.OVER_LIMIT
        else:
            count += 1
            per_document[document_id] += 1
            yield hit, PassageOutcome.RETURNED


def missed_threshold(
    request: SearchRequest, document: Document, scores: CandidateScores
) -> Threshold | None:
    """Returns the first threshold that the passage misses; None where it misses none."""
    for threshold in request.thresholds:
        cosine = scores.cosine(threshold.space_id)
        if cosine is None or cosine >= threshold.min_similarity:
            continue
        if threshold.condition is not None and not fulfils(document, threshold.condition):
            continue
        if not threshold.context_field or _equal_by_name(
            document.metadata.get(threshold.context_field),
            request.context.get(threshold.context_field),
        ):
            return threshold
    return None


def _equal_by_name(stored: MetadataValue | None, asked: MetadataValue | None) -> bool:
    # True equals 1.0 in Python; here a truth value is no number.
    return stored is not None and type(stored) is type(asked) and stored == asked
