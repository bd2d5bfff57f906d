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
from gateway.pages import arranged
from gateway.pipeline import Retrieval
from gateway.questions import Hit, Question
from gateway.reranking import RankedPassage
from gateway.searching import BM25_LIST


def explained_passages(
    retrieval: Retrieval,
    standings: DocumentStandings,
    expected: Expectation,
    question: Question,
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
    follower = _Follower(retrieval, question)
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

    def __init__(self, retrieval: Retrieval, question: Question) -> None:
        self._retrieval = retrieval
        arrangement = arranged(placed_hits(retrieval.fused, retrieval.ranking), question)
        self._placed = {hit.fused.passage_id: hit for unit in arrangement.units for hit in unit}
        self._over_bound = {hit.fused.passage_id: hit for hit in arrangement.over_bound}
        self._returned = {hit.fused.passage_id for hit in retrieval.hits}
        self._question = question
        self._before = {
            hit.passage_id: place for place, hit in enumerate(retrieval.fused.hits, start=1)
        }
        ranking = retrieval.ranking
        self._ranked = {one.passage_id: one for one in (ranking.passages if ranking else ())}

    def follow(self, passage: PassageStandings) -> ExplainedPassage:
        """Returns what became of one passage."""
        bounded = self._over_bound.get(passage.passage_id)
        if bounded is not None:
            return ExplainedPassage(
                ExpectationOutcome.OVER_DOCUMENT_BOUND,
                f"{self._question.passages_per_document} better passages of its document are in "
                "the answer",
                None,
                passage,
                self._rerank_step(bounded),
            )
        hit = self._placed.get(passage.passage_id)
        if hit is None:
            outcome, detail = self._lost(passage)
            return ExplainedPassage(outcome, detail, None, passage, None)
        outcome, detail = self._kept(hit)
        return ExplainedPassage(outcome, detail, hit.rank, passage, self._rerank_step(hit))

    def _kept(self, hit: Hit) -> tuple[ExpectationOutcome, str]:
        returned = len(self._returned)
        if hit.fused.passage_id in self._returned:
            return ExpectationOutcome.RETURNED, f"returned; place {hit.rank} of {returned}"
        return (
            ExpectationOutcome.OVER_LIMIT,
            f"place {hit.rank} in the final order; the limit is {self._question.page_length}",
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
