"""Candidates in a better order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gateway.receipt import StageReport
from gateway.searching import SpaceScore


class Candidate(NamedTuple):
    """One candidate with the scores the retriever computed; absent scores are None."""

    passage_id: str
    title: str
    text: str
    space_scores: tuple[SpaceScore, ...] = ()
    bm25_score: float | None = None


@dataclass(frozen=True, slots=True)
class FormulaParts:
    """What a score of the formula is made of: w * d + (1 - w) * b.

    `similarity_share` is d, `lexical_share` b, both 0 to 1, None where no candidate has any;
    `similarity_weight` is w. `space_id` is empty where there is no d.
    """

    space_id: str
    similarity_share: float | None
    lexical_share: float | None
    similarity_weight: float


class RankedPassage(NamedTuple):
    """A place in the new order; `score` compares inside one ranking only.

    `formula_parts` is None where nobody asked, or where no formula scored the passage.
    """

    passage_id: str
    score: float | None = None
    formula_parts: FormulaParts | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate once, best first."""

    passages: tuple[RankedPassage, ...]
    report: StageReport
