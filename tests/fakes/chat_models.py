"""A chat model by script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.deadline import Deadline
from chassis.vendor_errors import VendorUnavailable
from chat_models.answer_stream import AnswerStream
from chat_models.answers import AnswerPart
from chat_models.chat import ChatRequest, Completion, FinishReason, TokenUsage
from chat_models.model_card import ModelCard, TokenPrice


def down(name: str = "first") -> VendorUnavailable:
    """A vendor's outage."""
    return VendorUnavailable(name, "cannot answer now", status=503, retryable=True)


class ScriptedChat:
    """A ChatModel that answers one text after the other; the last repeats.

    An exception among the answers is raised instead. With a `gate`, it waits until that is set;
    `cancelled` counts the callers that gave up meanwhile. `requests` and `deadlines` are those of
    each call. Each answer is billed as 20 tokens read and 5 written.
    """

    def __init__(
        self,
        *answers: str | Exception,
        name: str = "first",
        price: TokenPrice | None = None,
        finish_reason: FinishReason = FinishReason.STOP,
        gate: asyncio.Event | None = None,
    ) -> None:
        self.name = name
        self.card = ModelCard(f"{name}-model", price=price)
        self.requests: list[ChatRequest] = []
        self.deadlines: list[Deadline | None] = []
        self.cancelled = 0
        self.closed = False
        self._answers = list(answers)
        self._finish_reason = finish_reason
        self._gate = gate

    async def complete(self, request: ChatRequest, deadline: Deadline | None = None) -> Completion:
        """Answers as told."""
        return self._completion(await self._next(request, deadline))

    @asynccontextmanager
    async def stream(
        self, request: ChatRequest, deadline: Deadline | None = None
    ) -> AsyncIterator[AnswerStream]:
        """Answers word by word."""
        answer = await self._next(request, deadline)

        async def parts() -> AsyncIterator[AnswerPart]:
            for word in answer.split():
                yield AnswerPart(f"{word} ")
            yield AnswerPart(finish_reason=self._finish_reason)

        stream = AnswerStream(self.name, parts(), lambda text, _: self._completion(text))
        await stream.begin()
        yield stream

    async def check(self) -> None:
        """Fails if the next answer is an exception."""
        if isinstance(self._answers[0], Exception):
            raise self._answers[0]

    async def close(self) -> None:
        """Remembers that it was closed."""
        self.closed = True

    async def _next(self, request: ChatRequest, deadline: Deadline | None) -> str:
        self.requests.append(request)
        self.deadlines.append(deadline)
        if self._gate is not None:
            try:
                await self._gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _completion(self, text: str) -> Completion:
        usage, price = TokenUsage(20, 5), self.card.price
        return Completion(
            text,
            self._finish_reason,
            usage,
            self.name,
            self.card.name,
            1.0,
            cost=None if price is None else price.of(usage),
            currency="" if price is None else price.currency,
        )
