"""A reranker that is left alone while it has said that the formula alone sorts."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cachetools import LRUCache

from chassis.clock import Clock, monotonic
from gateway.ports import Reranker
from gateway.receipt import StageReport
from gateway.reranking import Candidate, FormulaAlone, Ranking
from ranking_formula.formula import rank_by_formula

LONGEST_REST_S = 60.0
"""Whatever a reranker says, it is asked again after so many seconds."""


@dataclass(frozen=True, slots=True)
class _Rest:
    until: float
    similarity_weight: float
    report: StageReport


class ConnectedReranker(Reranker, Protocol):
    """A reranker that knows whether it could be called."""

    def connected(self) -> bool:
        """Tells, without asking anybody, whether the reranker could be called now."""
        ...


class RestingReranker:
    """Implements the `Reranker` port over another one.

    A mesh without a reranking model would else spend a hop of every search on what takes a tenth of
    it. While the reranker rests, candidates of the workspace are sorted here by the same formula,
    with the report that announced it, at 0 ms. A reranker that is not connected does not rest: it
    is called, and the receipt says that it was lost.
    """

    def __init__(
        self, reranker: ConnectedReranker, *, capacity: int = 1024, clock: Clock = monotonic
    ) -> None:
        self._reranker = reranker
        self._clock = clock
        self._rests: MutableMapping[str, _Rest] = LRUCache(capacity)

    async def rerank(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        workspace: str,
        model_candidate_count: int = 0,
        include_formula_parts: bool = False,
        timeout: float | None = None,
    ) -> Ranking:
        """Sorts at most 200 candidates; errors are those of the reranker."""
        rest = self._rests.get(workspace)
        if rest is not None and self._clock() < rest.until and self._reranker.connected():
            passages = rank_by_formula(
                candidates,
                similarity_weight=rest.similarity_weight,
                include_parts=include_formula_parts,
            )
            # Without any score there is nothing to sort by, which the reranker says in its report.
            if any(passage.score is not None for passage in passages):
                return Ranking(passages, rest.report)
        ranking = await self._reranker.rerank(
            question,
            candidates,
            workspace=workspace,
            model_candidate_count=model_candidate_count,
            include_formula_parts=include_formula_parts,
            timeout=timeout,
        )
        self._note(workspace, ranking.formula_alone, ranking.report)
        return ranking

    def _note(self, workspace: str, alone: FormulaAlone | None, report: StageReport) -> None:
        if alone is None:
            self._rests.pop(workspace, None)
            return
        until = self._clock() + min(alone.seconds, LONGEST_REST_S)
        self._rests[workspace] = _Rest(
            until, alone.similarity_weight, replace(report, latency_ms=0.0)
        )
