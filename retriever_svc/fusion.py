"""Reciprocal Rank Fusion of ranked lists (Cormack, Clarke and Buettcher, SIGIR 2009).

score(d) = sum over lists of weight / (rank_constant + effective rank), ranks from 1. A candidate
that a list does not hold gets nothing from it. Order depends on ranks only, never on scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum


@dataclass(frozen=True, slots=True)
class Ranking:
    """Holds one list of ids, best first.

    `rank_scale` (at least 1) is N / n for a list that was drawn from n of N passages: its first
    place counts like place N / n of a full list, so a small space cannot lead every answer.
    """

    ids: Sequence[int]
    weight: float = 1.0
    rank_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """Says where a list holds a candidate (`rank` from 1) and what that added to its score."""

    list_index: int
    rank: int
    contribution: float


@dataclass(frozen=True, slots=True)
class FusedCandidate:
    """Holds one candidate with its places, ordered by list."""

    passage_id: int
    score: float
    places: tuple[Place, ...]


def fuse(rankings: Sequence[Ranking], *, rank_constant: float = 60.0) -> list[FusedCandidate]:
    """Fuses whole lists; returns all their ids, best first, ties by id.

    An id that a list holds twice counts with its best rank.
    """
    places: dict[int, list[Place]] = {}
    for list_index, ranking in enumerate(rankings):
        seen: set[int] = set()
        for rank, passage_id in enumerate(ranking.ids, start=1):
            if passage_id in seen:
                continue
            seen.add(passage_id)
            contribution = ranking.weight / (rank_constant + rank * ranking.rank_scale)
            places.setdefault(passage_id, []).append(Place(list_index, rank, contribution))
    # fsum rounds once, so the order of the lists cannot turn a tie into a difference.
    fused = [
        FusedCandidate(passage_id, fsum(place.contribution for place in found), tuple(found))
        for passage_id, found in places.items()
    ]
    fused.sort(key=lambda candidate: (-candidate.score, candidate.passage_id))
    return fused
