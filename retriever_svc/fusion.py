"""Reciprocal Rank Fusion of ranked lists (Cormack, Clarke and Buettcher, SIGIR 2009).

score(d) = sum over lists of weight / (rank_constant + effective rank), ranks from 1. A candidate
that a list does not hold gets nothing from it. Order depends on ranks only, never on scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import NamedTuple, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Holds one list of ids, best first.

    `rank_scale` (at least 1) is N / n for a list that was drawn from n of N passages: its first
    place counts like place N / n of a full list, so a small space cannot lead every answer.
    """

    ids: Sequence[int]
    weight: float = 1.0
    rank_scale: float = 1.0


# Every search makes many of the next two; tuples are made in half the time of frozen classes.
class Place(NamedTuple):
    """Says where a list holds a candidate (`rank` from 1) and what that added to its score."""

    list_index: int
    rank: int
    contribution: float


class FusedCandidate(NamedTuple):
    """Holds one candidate with its places, ordered by list."""

    passage_id: int
    score: float
    places: tuple[Place, ...]


def fuse(
    rankings: Sequence[Ranking], *, rank_constant: float = 60.0, limit: int | None = None
) -> list[FusedCandidate]:
    """Fuses whole lists; returns the `limit` best of their ids, or all, best first, ties by id.

    An id that a list holds twice counts with its best rank.
    """
    ranks = [_best(ranking.ids, range(1, len(ranking.ids) + 1)) for ranking in rankings]
    contributions = [
        _best(
            ranking.ids,
            _contributions(len(ranking.ids), ranking.weight, rank_constant, ranking.rank_scale),
        )
        for ranking in rankings
    ]
    scores = _sums(contributions)
    # The sort by score keeps the order of equals.
    ordered = sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:limit]
    return [
        FusedCandidate(
            passage_id,
            scores[passage_id],
            tuple(
                [
                    Place(index, found[passage_id], contributions[index][passage_id])
                    for index, found in enumerate(ranks)
                    if passage_id in found
                ]
            ),
        )
        for passage_id in ordered
    ]


def count_candidates(rankings: Sequence[Ranking]) -> int:
    """Returns how many candidates a fusion of these lists has in all."""
    return len(set().union(*[ranking.ids for ranking in rankings]))


def _best(ids: Sequence[int], values: Sequence[T]) -> dict[int, T]:
    """Returns the value of each id's first place."""
    # The last value of a key stays, so backwards the first one does.
    return dict(zip(reversed(ids), reversed(values), strict=True))


# The same for most searches of a workspace.
@lru_cache(256)
def _contributions(
    count: int, weight: float, rank_constant: float, rank_scale: float
) -> tuple[float, ...]:
    """Returns what the places of a list of `count` ids give."""
    return tuple([weight / (rank_constant + rank * rank_scale) for rank in range(1, count + 1)])


def _sums(contributions: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Adds up by id; rounds once, so the order of the lists cannot turn a tie into a difference."""
    if len(contributions) <= 2:
        # A sum of two rounds once anyway.
        first, second = [*contributions, {}, {}][:2]
        return {**second, **first} | {
            passage_id: first[passage_id] + second[passage_id]
            for passage_id in first.keys() & second.keys()
        }
    return {
        passage_id: fsum(found.get(passage_id, 0.0) for found in contributions)
        for passage_id in set().union(*contributions)
    }
