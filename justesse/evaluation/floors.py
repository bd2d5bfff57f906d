"""Floors of similarity that tell questions without an answer from those with one.

How high the best cosine of a search is says little between models: some crowd near 1. A floor is
calibrated for one space: it is the highest that still keeps a wanted share of the answerable
questions, and what counts is how many unanswerable ones fall under it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from justesse.evaluation.answers import Answer
from justesse.evaluation.judged_set import Question

KEPT_SHARES = (1.0, 0.95, 0.9)
"""Shares of the answerable questions that a floor is to keep."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor of cosine in a space.

    `kept` is the share of answerable questions whose best hit reaches it, `refused` that of
    unanswerable ones whose best hit does not.
    """

    space_id: str
    min_similarity: float
    kept: float
    refused: float


def floors(questions: Sequence[Question], answers: Mapping[str, Answer]) -> tuple[Floor, ...]:
    """Returns a floor by space and kept share; none where all questions are of one kind."""
    spaces = sorted({space for answer in answers.values() for space in answer.best_cosines})
    found = []
    for space in spaces:
        best = {
            question_id: answer.best_cosines.get(space, -1.0)
            for question_id, answer in answers.items()
        }
        answerable = sorted(best[q.question_id] for q in questions if _counts(q, best, True))
        others = [best[q.question_id] for q in questions if _counts(q, best, False)]
        if answerable and others:
            found += [_floor(space, answerable, others, share) for share in KEPT_SHARES]
    # With few questions, several shares have the same floor.
    return tuple(dict.fromkeys(found))


def _counts(question: Question, best: Mapping[str, float], answerable: bool) -> bool:
    return question.answerable is answerable and question.question_id in best


def _floor(space: str, answerable: Sequence[float], others: Sequence[float], share: float) -> Floor:
    given_up = len(answerable) - math.ceil(share * len(answerable))
    floor = answerable[given_up]
    return Floor(
        space,
        floor,
        sum(value >= floor for value in answerable) / len(answerable),
        sum(value < floor for value in others) / len(others),
    )
