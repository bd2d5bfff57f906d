"""Fused hits as candidates of the reranker, and as hits of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gateway.questions import Hit, ListPlace
from gateway.receipt import StageOutcome
from gateway.reranking import Candidate, RankedPassage, Ranking
from gateway.searching import FusedHit, FusedHits, RankedList


def candidates_of(fused: FusedHits, text_count: int, *, with_bm25: bool) -> tuple[Candidate, ...]:
    """Returns the candidates of a search in fused order.

    The first `text_count` come with title and text: only those may be read by a model, and texts
    are nearly all of what the message weighs. Without BM25, vectors alone are judged.
    """
    return tuple(
        [
            Candidate(
                hit.passage_id,
                hit.document.title if place < text_count else "",
                hit.passage.text if place < text_count else "",
                hit.space_scores,
                hit.bm25_score if with_bm25 else None,
            )
            for place, hit in enumerate(fused.hits)
        ]
    )


def placed_ids(fused: FusedHits, ranking: Ranking | None) -> list[str]:
    """Returns the ids of the placed hits in their order."""
    placed: Sequence[FusedHit | RankedPassage] = fused.hits if ranking is None else ranking.passages
    return [passage.passage_id for passage in placed]


def placed_hits(fused: FusedHits, ranking: Ranking | None) -> Iterator[Hit]:
    """Yields all hits in the order of the ranking, or in fused order without one.

    The ranking holds fused hits, each once at most.
    """
    if ranking is None:
        for rank, hit in enumerate(fused.hits, start=1):
            yield Hit(rank, hit, _places(hit, fused.lists))
        return
    hits_by_id = {hit.passage_id: hit for hit in fused.hits}
    placed = _placed(ranking)
    for rank, passage in enumerate(ranking.passages, start=1):
        hit = hits_by_id[passage.passage_id]
        yield Hit(
            rank=rank,
            fused=hit,
            list_places=_places(hit, fused.lists),
            rerank_rank=rank if placed else None,
            rerank_score=passage.score,
        )


def _placed(ranking: Ranking) -> bool:
    """Tells a ranking that somebody made from the given order handed back."""
    report = ranking.report
    return report.outcome is StageOutcome.RAN or bool(report.provider)


def _places(hit: FusedHit, lists: Sequence[RankedList]) -> tuple[ListPlace, ...]:
    return tuple(
        ListPlace(
            list_name=lists[place.list_index].name,
            query_index=lists[place.list_index].variant_index,
            rank=place.rank,
            contribution=place.contribution,
        )
        for place in hit.list_ranks
    )
