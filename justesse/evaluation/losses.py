"""Questions that a configuration answers worse than the baseline, and the stage that lost them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from justesse.evaluation.answers import Answer, DocumentPlaces
from justesse.evaluation.judged_set import Question


@dataclass(frozen=True, slots=True)
class Loss:
    """A question whose first relevant document fell; ranks from 1, None where it is not found."""

    question_id: str
    question: str
    rank_before: int
    rank_now: int | None
    stage: str
    """"rerank" or "fusion" where that stage put others before it, "search" where no list had it
    further up."""


def losses(
    questions: Sequence[Question],
    baseline: Mapping[str, Answer],
    answers: Mapping[str, Answer],
) -> tuple[Loss, ...]:
    """Returns the questions that lost, those that fell furthest first."""
    found = []
    for question in questions:
        before = _first(question, baseline.get(question.question_id))
        now = _first(question, answers.get(question.question_id))
        if before is None or (now is not None and now.rank <= before.rank):
            continue
        found.append(
            Loss(
                question.question_id,
                question.text,
                before.rank,
                None if now is None else now.rank,
                _losing_stage(now),
            )
        )
    return tuple(sorted(found, key=_fall, reverse=True))


def _first(question: Question, answer: Answer | None) -> DocumentPlaces | None:
    if answer is None:
        return None
    return next((each for each in answer.documents if each.document_id in question.grades), None)


def _losing_stage(now: DocumentPlaces | None) -> str:
    if now is None:
        return "search"
    if now.rank > now.fused_rank:
        return "rerank"
    listed = [rank for rank in (now.dense_rank, now.bm25_rank) if rank is not None]
    return "fusion" if now.fused_rank > min(listed, default=0) else "search"


def _fall(loss: Loss) -> float:
    return float("inf") if loss.rank_now is None else float(loss.rank_now - loss.rank_before)
