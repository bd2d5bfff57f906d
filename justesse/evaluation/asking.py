"""Asks a mesh the questions of a set, a few at a time."""

import asyncio
from collections.abc import Callable, Sequence

from justesse.client import AsyncJustesse, Filter, JustesseError, filters
from justesse.evaluation.answers import Answer, AnswerFile
from justesse.evaluation.judged_set import Question

HITS = 100
"""Passages asked for: enough to see where a document fell to."""
_AT_ONCE = 2
_TIMEOUT_S = 60.0


async def ask(
    justesse: AsyncJustesse,
    workspace: str,
    questions: Sequence[Question],
    answers: AnswerFile,
    report: Callable[[Question], None],
    filter_by: Sequence[str] = (),
) -> None:
    """Asks what the file holds no answer to, and adds the answers to it.

    Each question is asked of the documents that share its metadata of the names in `filter_by`.
    `report` is called after each question, also for those that were answered before. Raises the
    first JustesseError; what was answered before it is kept.
    """
    known = answers.read()
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask_one(question: Question) -> None:
        async with turns:
            if question.question_id not in known:
                result = await justesse.search(
                    workspace,
                    question.text,
                    limit=HITS,
                    filter=_filter(question, filter_by),
                    timeout=_TIMEOUT_S,
                )
                answers.add(Answer.of(question.question_id, result))
        report(question)

    with answers:
        try:
            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(ask_one(question))
        except* JustesseError as failures:
            raise failures.exceptions[0] from failures


def _filter(question: Question, names: Sequence[str]) -> Filter | None:
    if not names:
        return None
    return filters.all_of(
        *(filters.equals(f"metadata.{name}", question.metadata[name]) for name in names)
    )
