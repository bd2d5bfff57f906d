"""A chat model behind HTTP, whoever the vendor is."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.trace import Span

from chassis.clock import Clock
from chassis.deadline import Deadline
from chassis.tracing.model_calls import model_span, note_usage
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import VendorRefused, VendorUnusable
from chat_models.answer_stream import AnswerStream
from chat_models.answers import AnswerPart
from chat_models.chat import ChatRequest, Completion, FinishReason, TokenUsage
from chat_models.model_card import ModelCard, estimated_prompt_tokens, estimated_tokens
from chat_models.reasoning import without_reasoning
from chat_models.refusals import concerns_every_request

IDLE_TIMEOUT_S = 20.0
Prepare = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WireFormat:
    """How a vendor is asked and how its answers are read.

    `body` makes the JSON of a request, for a streamed answer if told so. `answer` reads a whole
    answer, `parts` the lines of a streamed one; both are given the vendor's name for their errors.
    `adapt` is shown a refused request's error and returns whether the next body will differ.
    """

    path: str
    body: Callable[[ChatRequest, bool], dict[str, Any]]
    answer: Callable[[str, Any], AnswerPart]
    parts: Callable[[str, AsyncIterator[bytes]], AsyncIterator[AnswerPart]]
    adapt: Callable[[VendorRefused], bool] = lambda _refused: False


class HostedChat:
    """Implements ChatModel over one vendor's API. `prepare` is what a check does."""

    def __init__(
        self,
        name: str,
        card: ModelCard,
        wire: WireFormat,
        client: VendorClient,
        *,
        prepare: Prepare,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._name = name
        self._card = card
        self._wire = wire
        self._client = client
        self._prepare = prepare
        self._idle_timeout_s = idle_timeout_s
        self._clock = clock

    @property
    def name(self) -> str:
        """The word that settings and receipts use for the vendor."""
        return self._name

    @property
    def card(self) -> ModelCard:
        """The model, what it can read, and its price."""
        return self._card

    async def complete(self, request: ChatRequest, deadline: Deadline | None = None) -> Completion:
        """Returns the whole answer; raises VendorError, CircuitOpen, RateLimited, DeadlineExceeded.

        An answer without a word, though nobody refused or cut it, is VendorUnusable.
        """
        started = self._clock()

        def read(value: Any) -> tuple[str, AnswerPart]:
            part = self._wire.answer(self._client.vendor, value)
            text = without_reasoning(part.text)
            if not text and part.finish_reason in (None, FinishReason.STOP, FinishReason.OTHER):
                raise VendorUnusable(self._client.vendor, "answered without a word")
            return text, part

        while True:
            try:
                with self._left_alone_if_hopeless(), self._span() as span:
                    text, part = await self._client.post_read(
                        self._wire.path,
                        self._wire.body(request, False),
                        lambda answer: read(answer.value),
                        tokens=self._expected_tokens(request),
                        timeout_s=_seconds(deadline),
                    )
                    completion = self._completed(request, text, part, started)
                    _note_tokens(span, completion)
            except VendorRefused as refused:
                if not self._wire.adapt(refused):
                    raise
            else:
                return completion

    @asynccontextmanager
    async def stream(
        self, request: ChatRequest, deadline: Deadline | None = None
    ) -> AsyncIterator[AnswerStream]:
        """Gives the answer piece by piece while inside; raises what `complete` raises.

        What goes wrong before the first piece is raised before any is given.
        """
        started = self._clock()

        span: Span | None = None

        def finish(text: str, part: AnswerPart) -> Completion:
            completion = self._completed(request, text, part, started)
            _note_tokens(span, completion)
            return completion

        while True:
            opened = False
            try:
                with self._left_alone_if_hopeless(), self._span(current=False) as span:
                    async with self._client.post_lines(
                        self._wire.path,
                        self._wire.body(request, True),
                        idle_s=self._idle_timeout_s,
                        tokens=self._expected_tokens(request),
                        timeout_s=_seconds(deadline),
                    ) as lines:
                        parts = self._wire.parts(self._client.vendor, lines)
                        answer = AnswerStream(self._client.vendor, parts, finish)
                        await answer.begin()
                        opened = True
                        yield answer
            except VendorRefused as refused:
                if opened or not self._wire.adapt(refused):
                    raise
            else:
                return

    def _span(self, *, current: bool = True) -> AbstractContextManager[Span | None]:
        return model_span("chat", self._name, self._card.name, current=current)

    async def check(self) -> None:
        """Asks the vendor for something that costs nothing; raises VendorError or CircuitOpen."""
        self._client.breaker.refuse_if_open()
        with self._left_alone_if_hopeless():
            await self._prepare()

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    def _completed(
        self, request: ChatRequest, text: str, part: AnswerPart, started: float
    ) -> Completion:
        """Returns the answer with its tokens, counted or estimated, and its price."""
        estimated = part.input_tokens is None or part.output_tokens is None
        usage = TokenUsage(
            estimated_prompt_tokens(request) if part.input_tokens is None else part.input_tokens,
            estimated_tokens(part.text) if part.output_tokens is None else part.output_tokens,
            estimated,
        )
        price = self._card.price
        return Completion(
            text,
            part.finish_reason or FinishReason.STOP,
            usage,
            self._name,
            self._card.name,
            (self._clock() - started) * 1e3,
            cost=None if price is None else price.of(usage),
            currency="" if price is None else price.currency,
        )

    @contextmanager
    def _left_alone_if_hopeless(self) -> Iterator[None]:
        try:
            yield
        except VendorRefused as refused:
            if concerns_every_request(refused):
                self._client.breaker.trip()
            raise

    def _expected_tokens(self, request: ChatRequest) -> float:
        return float(estimated_prompt_tokens(request) + request.max_output_tokens)


def _seconds(deadline: Deadline | None) -> float | None:
    return None if deadline is None else deadline.remaining()


def _note_tokens(span: Span | None, completion: Completion) -> None:
    usage = completion.usage
    note_usage(span, usage.input_tokens, usage.output_tokens)
