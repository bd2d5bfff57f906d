"""What the embedded engine finds, as the gateway sees it once it is sorted by the formula."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gateway.documents import Document, Passage
from gateway.questions import Hit
from gateway.searching import FusedHit, HitContent, SpaceScore
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.searches import PassageHit, QueryVariant, SearchMode, SearchRequest
from tests.quality.rankings import CANDIDATES, WORKSPACE, candidate_of, ids_by_formula


async def found_hits(
    engine: EmbeddedEngine, space_id: str, text: str, vector: NDArray[np.float32]
) -> list[Hit]:
    """Returns all candidates of one question, best first."""
    variant = QueryVariant(text, vectors={space_id: vector})
    request = SearchRequest(WORKSPACE, (variant,), SearchMode.HYBRID, candidate_count=CANDIDATES)
    found = (await engine.search_passages(request)).hits
    by_id = {hit.document.external_id: hit for hit in found}
    order = ids_by_formula([candidate_of(hit) for hit in found])
    return [_hit(rank, by_id[one]) for rank, one in enumerate(order, start=1)]


def _hit(rank: int, found: PassageHit) -> Hit:
    content = HitContent(
        Passage(0, found.passage.text),
        Document(found.document.external_id, found.document.title),
    )
    scores = tuple(
        SpaceScore(score.space_id, score.cosine, score.best_window_cosine)
        for score in found.space_scores
    )
    fused = FusedHit(
        found.document.external_id, lambda: content, rank, 1 / (60 + rank), scores, found.bm25_score
    )
    return Hit(rank, fused, ())
