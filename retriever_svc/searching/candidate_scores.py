"""Scores of a candidate against the original wording, whichever list found it."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from retriever_svc.searches import SpaceScore
from retriever_svc.thresholds import Threshold


class CandidateScores(NamedTuple):
    """Holds the scores of one candidate."""

    space_scores: tuple[SpaceScore, ...]
    bm25_score: float
    term_share: float | None = None
    """Share of the original wording's terms that it holds; None where it was not asked for."""

    @property
    def cosines(self) -> dict[str, float]:
        """The cosines that can be had, by space."""
        return {score.space_id: score.cosine for score in self.space_scores}


class TermShares(Enum):
    """Names the candidates whose share of terms is computed."""

    NONE = "none"
    WITHOUT_COSINE = "without cosine"
    ALL = "all"

    @staticmethod
    def judged_by(thresholds: Sequence[Threshold]) -> "TermShares":
        """Returns what thresholds ask for."""
        if any(not threshold.space_id for threshold in thresholds):
            return TermShares.ALL
        return TermShares.WITHOUT_COSINE if thresholds else TermShares.NONE
