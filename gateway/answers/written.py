"""What was written for a question, whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.answers.checking.checked_answer import CheckedAnswer
from gateway.answers.events import AnswerEnd, AnswerOrigin, AnswerRefusal
from gateway.answers.extraction import extractive_answer
from gateway.answers.gathering import Evidence
from gateway.answers.model_attempt import ModelAttempt
from gateway.answers.refusals import RefusalReason, refusal_sentence
from gateway.context.formats import ContextLanguage

MODEL_REFUSED = AnswerRefusal(
    RefusalReason.MODEL_REFUSED,
    "the chat model found no answer in the sources, or would not give one",
)
NOTHING_QUOTABLE = AnswerRefusal(
    RefusalReason.WEAK_EVIDENCE, "no sentence of the sources has enough to do with the question"
)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer or a refusal; `given` says whether its text has been given out already."""

    origin: AnswerOrigin
    checked: CheckedAnswer
    end: AnswerEnd = AnswerEnd.COMPLETE
    refusal: AnswerRefusal | None = None
    given: bool = False


def from_model(attempt: ModelAttempt, language: ContextLanguage) -> WrittenAnswer | None:
    """Returns what a model has written; None where nothing of it could be given out."""
    if attempt.draft.text:
        refusal = MODEL_REFUSED if attempt.refused else None
        checked = attempt.draft.checked
        return WrittenAnswer(AnswerOrigin.MODEL, checked, attempt.end, refusal, given=True)
    if attempt.refused:
        return refused(MODEL_REFUSED, language)
    return None


def extracted(evidence: Evidence) -> WrittenAnswer:
    """Returns sentences of the sources that have to do with the question, or a refusal."""
    context = evidence.context
    text = extractive_answer(evidence.question, context.sources, context.language)
    checked = evidence.check(text)
    if not checked.citations:
        return refused(NOTHING_QUOTABLE, context.language)
    return WrittenAnswer(AnswerOrigin.EXTRACTED, checked)


def refused(refusal: AnswerRefusal, language: ContextLanguage) -> WrittenAnswer:
    """Returns the sentence that refuses."""
    checked = CheckedAnswer(refusal_sentence(language), ())
    return WrittenAnswer(AnswerOrigin.REFUSED, checked, refusal=refusal)
