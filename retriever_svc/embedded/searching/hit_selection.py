"""Decides which fused candidates become hits: thresholds, bound per document, limit."""

from collections import Counter
from collections.abc import Iterable, Sequence

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.embedded.searching.candidate_scores import CandidateScores
from retriever_svc.filters import fulfils
from retriever_svc.searches import PassageHit, SearchRequest, Threshold


def select_hits(
    hits: Iterable[tuple[PassageHit, CandidateScores]], request: SearchRequest
) -> list[PassageHit]:
    """Returns the hits that stay, in fused order."""
    chosen: list[PassageHit] = []
    per_document: Counter[str] = Counter()
    for hit, scores in hits:
        if request.limit is not None and len(chosen) == request.limit:
            break
        if _misses_any(request.thresholds, hit.document, scores, request):
            continue
        document_id = hit.document.external_id
        bound = request.passages_per_document
        if bound is not None and per_document[document_id] == bound:
            continue
        per_document[document_id] += 1
        chosen.append(hit)
    return chosen


def _misses_any(
    thresholds: Sequence[Threshold],
    document: Document,
    scores: CandidateScores,
    request: SearchRequest,
) -> bool:
    for threshold in thresholds:
        cosine = scores.cosine(threshold.space_id)
        if cosine is None or cosine >= threshold.min_similarity:
            continue
        if threshold.condition is not None and not fulfils(document, threshold.condition):
            continue
        if not threshold.context_field or _equal_by_name(
            document.metadata.get(threshold.context_field),
            request.context.get(threshold.context_field),
        ):
            return True
    return False


def _equal_by_name(stored: MetadataValue | None, asked: MetadataValue | None) -> bool:
    # True equals 1.0 in Python; here a truth value is no number.
    return stored is not None and type(stored) is type(asked) and stored == asked
