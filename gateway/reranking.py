"""Candidates in a better order."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.receipt import StageReport
from gateway.searching import SpaceScore


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate with the scores the retriever computed; absent scores are None."""

    passage_id: str
    title: str
    text: str
    space_scores: tuple[SpaceScore, ...] = ()
    bm25_score: float | None = None


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A place in the new order; `score` compares inside one ranking only."""

    passage_id: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate once, best first."""

    passages: tuple[RankedPassage, ...]
    report: StageReport
