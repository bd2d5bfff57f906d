"""One call of the chat models for an answer, bounded in time and tokens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline
from chassis.errors import ServiceError
from chat_models import ollama
from chat_models.chain import ChatChain
from chat_models.chat import ChatMessage, ChatRequest, ChatRole, Completion, FinishReason
from chat_models.protocol import ChatStream
from gateway.answers.draft import Check, Draft, OtherLanguage
from gateway.answers.events import AnswerEnd
from gateway.answers.patience import pieces_in_time
from gateway.answers.refusals import is_refusal
from gateway.context.building import BuiltContext
from gateway.presets.presets import AnswerRules
from gateway.receipt import StageOutcome, StageReport

STAGE = "answer"


@dataclass(frozen=True, slots=True)
class AnswerModels:
    """The chat models, what they have cost, and the seconds for which they may be silent."""

    chain: ChatChain
    costs: CostLedger
    idle_limit_s: float


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be written: an answer from a context, by the rules of a preset."""

    workspace: str
    context: BuiltContext
    rules: AnswerRules
    check: Check

    def request(self, reminder: str) -> ChatRequest:
        """Returns the conversation that asks for it; `reminder` stands last, if not empty."""
        asked = "\n\n".join(part for part in (self.context.user_prompt, reminder) if part)
        return ChatRequest(
            (
                ChatMessage(ChatRole.SYSTEM, self.context.system_prompt),
                ChatMessage(ChatRole.USER, asked),
            ),
            max_output_tokens=self.rules.max_tokens_hosted,
            # No vendor takes more.
            temperature=min(self.rules.temperature, 1.0),
        )

    def caps(self) -> dict[str, int]:
        """Returns the tokens that models of some providers may write instead."""
        return {ollama.NAME: self.rules.max_tokens_ollama}


class ModelAttempt:
    """One answer that is asked for. Read `deltas` to their end; the rest is true afterwards.

    `draft` holds what was given out; nothing where the answer is of no use. `report` is that of
    the stage, `completion` what was read, None where no model began.
    """

    def __init__(self, models: AnswerModels, task: Assignment) -> None:
        self.draft = Draft(task.check, task.context.language.value)
        self.end = AnswerEnd.COMPLETE
        self.refused = False
        self.other_language = False
        self.completion: Completion | None = None
        self._models = models
        self._task = task
        self._error: ServiceError | None = None

    async def deltas(self, deadline: Deadline, reminder: str = "") -> AsyncGenerator[str, None]:
        """Yields what can be given out, piece by piece; a failure of the models ends it."""
        stream: ChatStream | None = None
        try:
            async with self._models.chain.stream(
                self._task.request(reminder),
                deadline,
                may_pay=self._models.costs.may_pay(self._task.workspace),
                caps=self._task.caps(),
            ) as stream:
                pieces = pieces_in_time(stream, self._models.idle_limit_s, deadline)
                async with aclosing(pieces):
                    async for piece in pieces:
                        if text := self._added(piece):
                            yield text
                        if self.other_language:
                            break
        except ServiceError as error:
            self._error, self.end = error, AnswerEnd.INCOMPLETE
        finally:
            if stream is not None:
                self.completion = stream.so_far()
                self._models.costs.add(self._task.workspace, self.completion.cost or 0.0)
        if text := self._closed():
            yield text

    @property
    def report(self) -> StageReport:
        """What the stage did; degraded unless the model's answer, or its refusal, is used."""
        reason, detail = self._loss()
        outcome = StageOutcome.DEGRADED if reason else StageOutcome.RAN
        given = self.completion
        if given is None:
            return StageReport(STAGE, outcome, reason, detail)
        return StageReport(
            STAGE,
            outcome,
            reason,
            detail,
            given.provider,
            given.model,
            input_token_count=given.usage.input_tokens,
            output_token_count=given.usage.output_tokens,
            cost=given.cost,
            currency=given.currency,
        )

    def _added(self, piece: str) -> str:
        try:
            return self.draft.add(piece)
        except OtherLanguage:
            self.other_language = True
            return ""

    def _closed(self) -> str:
        """Returns the rest of the answer, once it is known how it ended."""
        reason = None if self.completion is None else self.completion.finish_reason
        if self._error is None and reason is FinishReason.LENGTH:
            self.end = AnswerEnd.TRUNCATED
        elif self._error is None and reason is FinishReason.REFUSED:
            self.end, self.refused = AnswerEnd.INCOMPLETE, not self.draft.text
        if self.other_language or self.refused:
            return ""
        try:
            text = self.draft.close(complete=self.end is AnswerEnd.COMPLETE)
        except OtherLanguage:
            self.other_language = True
            return ""
        self.refused = is_refusal(self.draft.seen.text)
        if self.draft.text and not self.draft.is_whole:
            self.end = AnswerEnd.INCOMPLETE
        return text

    def _loss(self) -> tuple[str, str]:
        if self.other_language:
            return "LANGUAGE_MISMATCH", "the model wrote in another language than the question's"
        if self._error is not None:
            return self._error.reason, self._error.message
        if self.draft.text and not self.draft.is_whole:
            return "CHECK_FAILED", "what followed changed what had been given out, and was left out"
        if self.draft.text and self.end is AnswerEnd.INCOMPLETE:
            return "MODEL_REFUSED", "the model would not go on"
        if self.draft.text or self.refused:
            cap = f"cut at {self._cap} tokens" if self.end is AnswerEnd.TRUNCATED else ""
            return "", cap
        if self.end is AnswerEnd.TRUNCATED:
            return "OUTPUT_CUT", f"nothing of use was written within {self._cap} tokens"
        return "UNCITED", "the model cited no source of the answer"

    @property
    def _cap(self) -> int:
        rules = self._task.rules
        is_ollama = self.completion is not None and self.completion.provider == ollama.NAME
        return rules.max_tokens_ollama if is_ollama else rules.max_tokens_hosted
