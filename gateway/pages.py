"""Pages of an answer: groups and bounds by document in the final order, and where a page ends.

The window of a search is what the retriever fuses of lists of one length, 200 passages at most. It
is ordered once, for the first page; a token carries what is left of that order, with the wordings
that were searched, to the next page. So no page repeats or skips a passage, however the rewriter or
a reranking model would answer the second time, and later pages call neither. The search itself is
made anew each time: what was deleted, or is not for this caller any more, falls out of the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gateway.page_tokens import KeptOrder
from gateway.questions import Hit, Question
from gateway.receipt import StageOutcome, StageReport
from gateway.reranking import RankedPassage, Ranking
from gateway.searching import FusedHits


@dataclass(frozen=True, slots=True)
class Page:
    """Hits of one page, and the passages that follow them in order.

    `total_count` hits are on all pages, documents where they are grouped.
    """

    hits: tuple[Hit, ...]
    following_ids: tuple[str, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Hits as an answer shows them, in units that a page does not split, and those left out."""

    units: tuple[tuple[Hit, ...], ...]
    over_bound: tuple[Hit, ...]


def page_of(
    placed: Iterable[Hit], placed_ids: Sequence[str], question: Question, kept: KeptOrder | None
) -> Page:
    """Returns the first hits of those that are placed, in their final order.

    `kept` is what the page before has left, None for the first page.
    """
    length = question.page_length
    if question.passages_per_document or question.group_by_document:
        units = arranged(placed, question).units
        hits = tuple(hit for unit in units[:length] for hit in unit)
        following = tuple(hit.fused.passage_id for unit in units[length:] for hit in unit)
        total_count = len(units)
    else:
        hits = tuple(islice(placed, length))
        following = tuple(placed_ids[length:])
        total_count = len(placed_ids)
    if kept is None:
        return Page(hits, following, total_count)
    shown = kept.shown_count
    later = tuple(replace(hit, rank=shown + rank) for rank, hit in enumerate(hits, start=1))
    return Page(later, following, kept.total_count)


def arranged(placed: Iterable[Hit], question: Question) -> Arrangement:
    """Bounds and groups hits by document; a group stands where its best passage stood.

    Ranks are those of the answer.
    """
    per_document: dict[str, list[Hit]] = {}
    units: list[list[Hit]] = []
    over_bound: list[Hit] = []
    for hit in placed:
        kept = per_document.setdefault(hit.fused.document.external_id, [])
        if question.passages_per_document and len(kept) == question.passages_per_document:
            over_bound.append(hit)
            continue
        kept.append(hit)
        if not question.group_by_document:
            units.append([hit])
        elif len(kept) == 1:
            units.append(kept)
    ranks = iter(range(1, sum(map(len, units)) + 1))
    return Arrangement(
        tuple(tuple(replace(hit, rank=next(ranks)) for hit in unit) for unit in units),
        tuple(over_bound),
    )


def kept_ranking(kept: KeptOrder, fused: FusedHits) -> Ranking:
    """Returns the kept order of those hits that are still found."""
    found = {hit.passage_id for hit in fused.hits}
    return Ranking(
        tuple(RankedPassage(each) for each in kept.passage_ids if each in found),
        StageReport("rerank", StageOutcome.SKIPPED),
    )
