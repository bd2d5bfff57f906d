"""Refuses questions that the candidates of their search do not answer, as far as that can be told.

Weights and bounds come from `python -m tests.quality.evidence`: public questions with the documents
that answer them, and the same questions after these were taken out of what is found. Each bound
keeps 998 of 1,000 answered ones ("balanced"), or 990 ("strict"): a question that is refused wrongly
is a loss for good, while what is close to the subject and no answer is left to the chat model, and
to the check of what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from gateway.answers.evidence.features import EvidenceFeatures, features_of
from gateway.questions import Hit


class Strictness(Enum):
    """How much evidence an answer needs."""

    STRICT = "strict"
    BALANCED = "balanced"
    OPEN = "open"
    """Whatever was found is enough."""


PASSAGE_WEIGHT = 0.731
SENTENCE_WEIGHT = 0.962
PROMINENCE_WEIGHT = 1.062
INTERCEPT = -3.414
"""Of a logistic regression; the score is the logarithm of the odds that there is an answer."""

LEAST_SCORES: Mapping[Strictness, float] = {Strictness.STRICT: -1.95, Strictness.BALANCED: -2.24}
LEAST_SIMILARITIES: Mapping[str, Mapping[Strictness, float]] = {
    # Models differ in what is similar: a bound holds for the space that it was measured in.
    "embedded/multilingual-e5-small@": {Strictness.STRICT: 0.828, Strictness.BALANCED: 0.816},
}
"""By what the id of a space begins with."""


@dataclass(frozen=True, slots=True)
class EvidenceDecision:
    """Whether there is enough to answer from; `detail` says in words what is not, else empty."""

    is_enough: bool
    detail: str = ""


_ENOUGH = EvidenceDecision(True)


def decide(
    question: str, hits: Sequence[Hit], strictness: Strictness = Strictness.BALANCED
) -> EvidenceDecision:
    """Decides by all candidates of a search, best first.

    Few candidates, other languages and unknown spaces are no reason to refuse.
    """
    if strictness is Strictness.OPEN or not hits:
        return _ENOUGH
    features = features_of(question, hits)
    least = _least_similarity(features.space_id, strictness)
    if least is not None and features.similarity is not None and features.similarity < least:
        return EvidenceDecision(
            False,
            f"the passage that is most like the question has the similarity "
            f"{features.similarity:.3f}, answers mostly have {least:.3f} or more",
        )
    score = score_of(features)
    if score is not None and score < LEAST_SCORES[strictness]:
        return EvidenceDecision(
            False,
            f"the best passage holds {_percent(features.passage_share)} of what was asked for, its "
            f"best sentence {_percent(features.sentence_share)}, and it stands out from the others "
            f"by {features.prominence or 0:.1f} deviations: together too little",
        )
    return _ENOUGH


def score_of(features: EvidenceFeatures) -> float | None:
    """Returns the score; None where one of the figures means nothing."""
    passage, sentence = features.passage_share, features.sentence_share
    if passage is None or sentence is None or features.prominence is None:
        return None
    return (
        PASSAGE_WEIGHT * passage
        + SENTENCE_WEIGHT * sentence
        + PROMINENCE_WEIGHT * features.prominence
        + INTERCEPT
    )


def _least_similarity(space_id: str, strictness: Strictness) -> float | None:
    bounds = (bound for start, bound in LEAST_SIMILARITIES.items() if space_id.startswith(start))
    found = next(bounds, None)
    return None if found is None else found[strictness]


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0):.0f} %"
