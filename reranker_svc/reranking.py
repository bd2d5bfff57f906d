"""What is asked of a reranker and what it gives back."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ranking_formula.ranking import FormulaParts, RankedPassage
from reranker_svc.implementation import Implementation

__all__ = [
    "Candidate",
    "FormulaAlone",
    "FormulaParts",
    "RankedPassage",
    "Ranking",
    "RerankRequest",
    "SpaceScore",
    "StageOutcome",
    "StageReport",
]


class SpaceScore(NamedTuple):
    """A candidate's similarity to the query in one vector space.

    Both values are cosines, -1 to 1; None where they cannot be computed.
    """

    space_id: str
    cosine: float | None = None
    best_window_cosine: float | None = None


class Candidate(NamedTuple):
    """A passage with the scores that the retriever computed for it.

    At most one score per space. `bm25_score` is at least 0; None where it cannot be computed.
    """

    passage_id: str
    title: str = ""
    text: str = ""
    space_scores: tuple[SpaceScore, ...] = ()
    bm25_score: float | None = None


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """A question and its candidates in fused order, best first, with unique passage ids.

    `model_candidate_count` bounds how many from the front a model may look at; 0 is the default.
    `include_formula_parts` asks what the scores of the formula are made of.
    `implementations` are asked in this order; empty is the default order.
    """

    workspace: str
    question: str
    candidates: tuple[Candidate, ...]
    model_candidate_count: int = 0
    implementations: tuple[Implementation, ...] = ()
    include_formula_parts: bool = False


class StageOutcome(Enum):
    """How the stage ended."""

    RAN = "ran"
    SKIPPED = "skipped"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class StageReport:
    """What was done, by whom and at what price.

    `reason` is UPPER_SNAKE and `detail` its wording; both are empty for a stage that ran, and
    neither ever holds query or document text. `cost` is in units of `currency` (ISO 4217), None
    where unknown.
    """

    outcome: StageOutcome
    reason: str = ""
    detail: str = ""
    provider: str = ""
    model: str = ""
    latency_ms: float = 0.0
    input_token_count: int = 0
    output_token_count: int = 0
    cost: float | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class FormulaAlone:
    """For `seconds` the formula alone sorts a workspace's candidates, with this weight w."""

    seconds: float
    similarity_weight: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate of the request once, best first.

    `formula_alone` is None where a model may sort the next candidates of the workspace.
    """

    passages: tuple[RankedPassage, ...]
    report: StageReport
    formula_alone: FormulaAlone | None = None
