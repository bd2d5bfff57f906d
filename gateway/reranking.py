"""Candidates in a better order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gateway.receipt import StageReport
from gateway.searching import SpaceScore
from ranking_formula.ranking import FormulaParts, RankedPassage

__all__ = ["Candidate", "FormulaAlone", "FormulaParts", "RankedPassage", "Ranking"]


class Candidate(NamedTuple):
    """One candidate with the scores the retriever computed; absent scores are None."""

    passage_id: str
    title: str
    text: str
    space_scores: tuple[SpaceScore, ...] = ()
    bm25_score: float | None = None


@dataclass(frozen=True, slots=True)
class FormulaAlone:
    """For `seconds` the formula alone sorts a workspace's candidates.

    `similarity_weight`, 0 to 1, is the share of the similarity in its scores.
    """

    seconds: float
    similarity_weight: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate once, best first.

    `formula_alone` is None where a model may sort the next candidates of the workspace.
    """

    passages: tuple[RankedPassage, ...]
    report: StageReport
    formula_alone: FormulaAlone | None = None
