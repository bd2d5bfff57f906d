"""An answer written by chat models, with one reminder of the language."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from chassis.deadline import Deadline
from chassis.tracing.spans import read_within, span
from gateway.answers.events import AnswerTokens
from gateway.answers.model_attempt import STAGE, AnswerModels, Assignment, ModelAttempt
from gateway.context.formats import ContextLanguage
from gateway.stages import Stages

_REMINDERS = {
    ContextLanguage.FRENCH: "Réponds en français.",
    ContextLanguage.ENGLISH: "Answer in English.",
}


class ModelWriting:
    """Has one answer written. Read `deltas` to their end; the rest is true afterwards.

    `last` is the attempt that counts. A model that answers in another language than the question's
    is asked once more, before anything is given out, with a reminder.
    """

    def __init__(self, models: AnswerModels, task: Assignment, stages: Stages) -> None:
        self._models = models
        self._task = task
        self._stages = stages
        self.last = ModelAttempt(models, task)
        self.other_language = False
        self.tokens = AnswerTokens()

    async def deltas(self, deadline: Deadline) -> AsyncGenerator[str, None]:
        """Yields what can be given out, piece by piece; raises nothing where models fail."""
        for reminder in ("", _REMINDERS[self._task.context.language]):
            self.last = ModelAttempt(self._models, self._task)
            started = self._stages.clock()
            with span(f"stage {STAGE}", {"justesse.stage": STAGE}, current=False) as running:
                async with (
                    aclosing(self.last.deltas(deadline, reminder)) as written,
                    aclosing(read_within(running, written)) as deltas,
                ):
                    async for text in deltas:
                        yield text
                if running is not None:
                    outcome = self.last.report.outcome.value
                    running.set_attribute("justesse.stage.outcome", outcome)
            self._stages.note(self.last.report, started)
            self._count()
            if not self.last.other_language:
                return
            self.other_language = True

    def _count(self) -> None:
        completion = self.last.completion
        if completion is not None:
            self.tokens = AnswerTokens(
                self.tokens.input_count + completion.usage.input_tokens,
                self.tokens.output_count + completion.usage.output_tokens,
                self.tokens.estimated or completion.usage.estimated,
            )
