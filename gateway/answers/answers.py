"""Answers questions in words."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from chassis.deadline import Deadline, current_deadline
from gateway.access.permitted_questions import permitted
from gateway.admission.admission import Admission
from gateway.answers.answer_metrics import AnswerMetrics
from gateway.answers.answering import answer_events
from gateway.answers.events import AnswerEvent, AnswerOutcome
from gateway.answers.parts import AnswerParts
from gateway.context.of_retrieval import NO_WISHES, ContextWishes, check_wishes
from gateway.questions import Question
from gateway.validation import check_question

DEFAULT_DEADLINE_S = 60.0


class Answers:
    """Answers from passages alone, with chat models where there are some.

    An answer takes a place of its own kind for as long as it is written, and one among the queries
    only while its passages are searched: slow models never hold up searches.
    """

    def __init__(
        self, parts: AnswerParts, admission: Admission, metrics: AnswerMetrics | None = None
    ) -> None:
        self._parts = parts
        self._metrics = metrics
        self._admission = admission

    async def answer(
        self, question: Question, wishes: ContextWishes = NO_WISHES
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yields the events of an answer, within the caller's deadline, or 60 s.

        Raises as `Contexts.build` does, before the first event. Closing the generator stops the
        model.
        """
        question = permitted(question.as_context())
        check_question(question)
        check_wishes(wishes)
        deadline = current_deadline() or Deadline.after(DEFAULT_DEADLINE_S)
        async with self._admission.place_for(question.workspace):
            events = answer_events(self._parts, question, wishes, deadline)
            async with aclosing(events):
                async for event in events:
                    if self._metrics is not None and isinstance(event, AnswerOutcome):
                        self._metrics.count(event)
                    yield event
