"""Follows expected passages through a search that has been made."""

from __future__ import annotations

from chassis.errors import NotFound
from gateway.explanations import (
    DocumentStandings,
    Expectation,
    ExpectationOutcome,
    ExplainedPassage,
    PassageStandings,
    RerankStep,
)
from gateway.hits import placed_hits
from gateway.pipeline import Retrieval
from gateway.questions import Hit
from gateway.reranking import RankedPassage
from gateway.searching import BM25_LIST


def explained_passages(
    retrieval: Retrieval, standings: DocumentStandings, expected: Expectation
) -> tuple[ExplainedPassage, ...]:
    """Returns what became of the expected passages, best place first.

    NotFound where the document holds no passage at the expected position.
    """
    passages = [
        passage
        for passage in standings.passages
        if expected.chunk_index in (None, passage.chunk_index)
    ]
    if expected.chunk_index is not None and not passages:
        raise no_such_passage(expected, len(standings.passages))
    follower = _Follower(retrieval)
    # The retriever's order stays among the passages without a place.
    return tuple(
        sorted(map(follower.follow, passages), key=lambda one: (one.rank is None, one.rank or 0))
    )


def no_such_passage(expected: Expectation, passage_count: int) -> NotFound:
    """Returns the error for a position that the document does not have."""
    return NotFound(
        f"document {expected.external_id!r} has no passage {expected.chunk_index}: it holds "
        f"{passage_count}, counted from 0",
        reason="PASSAGE_NOT_FOUND",
    )


class _Follower:
    """Looks passages up in what each stage of one search left."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._placed = {
            hit.fused.passage_id: hit for hit in placed_hits(retrieval.fused, retrieval.ranking)
        }
        self._before = {
            hit.passage_id: place for place, hit in enumerate(retrieval.fused.hits, start=1)
        }
        ranking = retrieval.ranking
        self._ranked = {one.passage_id: one for one in (ranking.passages if ranking else ())}

    def follow(self, passage: PassageStandings) -> ExplainedPassage:
        """Returns what became of one passage."""
        hit = self._placed.get(passage.passage_id)
        if hit is None:
            outcome, detail = self._lost(passage)
            return ExplainedPassage(outcome, detail, None, passage, None)
        outcome, detail = self._kept(hit)
        return ExplainedPassage(outcome, detail, hit.rank, passage, self._rerank_step(hit))

    def _kept(self, hit: Hit) -> tuple[ExpectationOutcome, str]:
        returned = len(self._retrieval.hits)
        if hit.rank <= returned:
            return ExpectationOutcome.RETURNED, f"returned; place {hit.rank} of {returned}"
        return (
            ExpectationOutcome.OVER_LIMIT,
            f"place {hit.rank} in the final order; the limit is {returned}",
        )

    def _lost(self, passage: PassageStandings) -> tuple[ExpectationOutcome, str]:
        match passage.outcome:
            case ExpectationOutcome.RETURNED:
                return (
                    ExpectationOutcome.CHANGED,
                    "its document changed between the search and its explanation; ask again",
                )
            case ExpectationOutcome.OVER_LIMIT:
                return (
                    ExpectationOutcome.OVER_CANDIDATE_WINDOW,
                    f"place {passage.fused_rank} after fusion; "
                    f"{self._retrieval.search.limit} better ones fill the window of candidates",
                )
            case ExpectationOutcome.IN_NO_LIST:
                return passage.outcome, f"{passage.detail}; {self._nearest(passage)}"
            case _:
                return passage.outcome, passage.detail

    def _nearest(self, passage: PassageStandings) -> str:
        searched = {made.name for made in self._retrieval.fused.lists}
        holding = {standing.list_name for standing in passage.standings}
        reasons = []
        if passage.standings:
            best = min(passage.standings, key=lambda standing: standing.rank)
            reasons.append(f"its best place is {best.rank}, in {best.list_name}")
        if not searched - {BM25_LIST}:
            reasons.append("no vectors were searched")
        elif not holding - {BM25_LIST}:
            reasons.append("it has no vector in a space that was searched")
        if BM25_LIST in searched - holding:
            reasons.append("it shares no term with the wordings")
        return "; ".join(reasons)

    def _rerank_step(self, hit: Hit) -> RerankStep | None:
        ranking = self._retrieval.ranking
        if ranking is None or hit.rerank_rank is None:
            return None
        ranked: RankedPassage = self._ranked[hit.fused.passage_id]
        return RerankStep(
            rank_before=self._before[hit.fused.passage_id],
            rank_after=hit.rerank_rank,
            score=ranked.score,
            formula_parts=ranked.formula_parts,
            provider=ranking.report.provider,
            model=ranking.report.model,
        )
