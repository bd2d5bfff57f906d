"""The path of a question to an answer: passages, context, evidence, words, check, receipt."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from chassis.deadline import Deadline
from gateway.answers.events import (
    AnswerCitations,
    AnswerDelta,
    AnswerEvent,
    AnswerOutcome,
    AnswerSources,
    AnswerTokens,
)
from gateway.answers.gathering import evidence_of, found_passages
from gateway.answers.model_attempt import STAGE, Assignment
from gateway.answers.model_writing import ModelWriting
from gateway.answers.parts import AnswerParts
from gateway.answers.written import WrittenAnswer, extracted, from_model, refused
from gateway.context.of_retrieval import ContextWishes
from gateway.questions import Question
from gateway.receipt import Receipt

_WRITING_SHARE = 0.95
"""Of the time that is left, for the models; the rest is for what takes their place."""


async def answer_events(
    parts: AnswerParts, question: Question, wishes: ContextWishes, deadline: Deadline
) -> AsyncGenerator[AnswerEvent, None]:
    """Yields the events of one answer.

    passages -> context -> evidence -> (chat model | quoted sentences | refusal) -> receipt

    Finding the passages may fail, and then the request does. Nothing later can: a model that is
    lost before any of its words was given out is replaced by quoted sentences, one that is lost
    while it writes leaves what it has said. No word is given out unchecked.
    """
    # Lost: the request fails.
    found = await found_passages(parts.searches, question, deadline)
    stages = found.run.stages
    evidence = evidence_of(found, wishes, parts.unsupported, parts.strictness)
    yield AnswerSources(evidence.context.sources)

    writing: ModelWriting | None = None
    written: WrittenAnswer | None = None
    if evidence.refusal is not None:
        stages.skipped(STAGE, evidence.refusal.reason, evidence.refusal.detail)
        written = refused(evidence.refusal, evidence.context.language)
    elif parts.models is None:
        stages.skipped(STAGE, "NO_CHAT_MODEL", "no chat model is named: sources are quoted")
    else:
        # Lost: quoted sentences, or what was said until then.
        task = Assignment(question.workspace, evidence.context, evidence.rules, evidence.check)
        writing = ModelWriting(parts.models, task, stages)
        patience = Deadline.after(deadline.share(_WRITING_SHARE), deadline.clock)
        async with aclosing(writing.deltas(patience)) as deltas:
            async for text in deltas:
                yield AnswerDelta(text)
        written = from_model(writing.last, evidence.context.language)
    if written is None:
        written = extracted(evidence)
    if not written.given:
        yield AnswerDelta(written.checked.text)

    yield AnswerCitations(written.checked.citations)
    yield _outcome(written, writing, found.run.receipt())


def _outcome(
    written: WrittenAnswer, writing: ModelWriting | None, receipt: Receipt
) -> AnswerOutcome:
    return AnswerOutcome(
        origin=written.origin,
        end=written.end,
        refusal=written.refusal,
        tokens=AnswerTokens() if writing is None else writing.tokens,
        checked=written.checked,
        language_mismatch=writing is not None and writing.other_language,
        receipt=receipt,
    )
