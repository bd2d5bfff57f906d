"""Reranks the candidates of one question and reports how."""

import time
from collections.abc import Callable

from reranker_svc.embedded_formula import rank_by_formula
from reranker_svc.reranking import (
    RankedPassage,
    Ranking,
    RerankRequest,
    StageOutcome,
    StageReport,
)


class PassageReranker:
    """Sorts by the embedded formula; where it cannot, the fused order stays.

    The report's `latency_ms` is in milliseconds of `clock`, which counts in seconds.
    """

    def __init__(
        self, *, similarity_weight: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._similarity_weight = similarity_weight
        self._clock = clock

    async def rerank(self, request: RerankRequest) -> Ranking:
        """Returns a permutation of the candidates and the report of the stage."""
        start = self._clock()
        passages = rank_by_formula(
            request.candidates,
            similarity_weight=self._similarity_weight,
            include_parts=request.include_formula_parts,
        )
        latency_ms = (self._clock() - start) * 1000.0
        return Ranking(passages, _report(passages, latency_ms))


def _report(passages: tuple[RankedPassage, ...], latency_ms: float) -> StageReport:
    if not passages:
        return StageReport(
            StageOutcome.SKIPPED,
            reason="NO_CANDIDATES",
            detail="there was no candidate to sort",
            latency_ms=latency_ms,
        )
    if all(passage.score is None for passage in passages):
        return StageReport(
            StageOutcome.SKIPPED,
            reason="NO_SCORES",
            detail="no candidate has a cosine or a BM25 score, so the fused order stays",
            latency_ms=latency_ms,
        )
    return StageReport(
        StageOutcome.RAN, provider="embedded", model="formula", latency_ms=latency_ms
    )
