"""Asks chat models in their order until one answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import structlog

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.deadline import Deadline, current_deadline
from chassis.errors import DeadlineExceeded, ResourceExhausted, ServiceError, Unavailable
from chat_models.chat import ChatRequest, Completion
from chat_models.model_card import estimated_prompt_tokens
from chat_models.protocol import ChatModel, ChatStream
from chat_models.usage import ChatUsage

_log = structlog.get_logger("chat_models.chain")

Answer = TypeVar("Answer")

# A model gets this share of the time that is left, where another one could answer next.
_SHARE = 0.6
# With less room than that, in tokens, a model had better not begin.
_SHORTEST_ANSWER = 64


class ChatChain:
    """Models in the order in which they are asked, at least one.

    Falls to the next model at each failure that another one may not share, within the deadline. A
    refusal to answer, or an answer that was cut, is an answer: the chain does not look for a more
    willing model.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        usage: ChatUsage | None = None,
        clock: Clock = clocks.monotonic,
    ) -> None:
        if not models:
            raise ValueError("a chain needs at least one chat model")
        self.models = tuple(models)
        self._usage = usage
        self._clock = clock

    @property
    def identity(self) -> str:
        """The models by name, in order: two chains with the same identity answer alike."""
        return ",".join(f"{model.name}/{model.card.name}" for model in self.models)

    @property
    def context_tokens(self) -> int:
        """Tokens of prompt and answer together that every model of the chain can hold."""
        return min(model.card.context_tokens for model in self.models)

    async def complete(
        self, request: ChatRequest, deadline: Deadline | None = None, *, may_pay: bool = True
    ) -> Completion:
        """Returns the answer of the first model that gives one.

        Raises Unavailable if none does, ResourceExhausted if those that could have to be paid and
        that is not allowed, DeadlineExceeded if no time is left to ask one.
        """

        async def ask(model: ChatModel, own: Deadline | None) -> Completion:
            return await model.complete(request, own)

        completion = await self._first_answer(ask, self._bounded(deadline), may_pay)
        self._count(completion)
        return completion

    @asynccontextmanager
    async def stream(
        self,
        request: ChatRequest,
        deadline: Deadline | None = None,
        *,
        may_pay: bool = True,
        caps: Mapping[str, int] = MappingProxyType({}),
    ) -> AsyncIterator[ChatStream]:
        """Gives the answer of the first model that begins one; raises what `complete` raises.

        Once a piece has been given, a failure is final. `caps` are tokens that a model may write,
        by name of its provider, in place of the request's; no cap is more than what
        the model can hold beside the prompt.
        """

        async def open_stream(
            model: ChatModel, own: Deadline | None
        ) -> tuple[AsyncExitStack, ChatStream]:
            asked = _capped(request, model, caps.get(model.name, request.max_output_tokens))
            async with AsyncExitStack() as opening:
                answer = model.stream(asked, bounded)
                async with _begun_within(model, own):
                    stream = await opening.enter_async_context(answer)
                return opening.pop_all(), stream

        bounded = self._bounded(deadline)
        opened, stream = await self._first_answer(open_stream, bounded, may_pay)
        async with opened:
            try:
                yield stream
            except ServiceError as error:
                self._note_break(stream.so_far(), error)
                raise
            self._count_stream(stream)

    async def check(self) -> None:
        """Readies every model that can be; raises Unavailable if none can answer."""
        failures: list[tuple[ChatModel, ServiceError]] = []
        for model in self.models:
            try:
                await model.check()
            except ServiceError as error:
                self._note(model, error, failures)
        if len(failures) == len(self.models):
            raise _none_answered(failures)

    async def close(self) -> None:
        """Closes every model."""
        for model in self.models:
            await model.close()

    async def _first_answer(
        self,
        ask: Callable[[ChatModel, Deadline | None], Awaitable[Answer]],
        deadline: Deadline | None,
        may_pay: bool,
    ) -> Answer:
        failures: list[tuple[ChatModel, ServiceError]] = []
        for model in self.models:
            if deadline is not None and deadline.expired:
                break
            is_last = model is self.models[-1]
            try:
                _require_payable(model, may_pay)
                return await ask(model, _own_deadline(deadline, is_last=is_last))
            except (Unavailable, ResourceExhausted, DeadlineExceeded) as error:
                self._note(model, error, failures)
        if not failures:
            raise DeadlineExceeded("the deadline passed before a chat model could be asked")
        raise _none_answered(failures)

    def _note(
        self,
        model: ChatModel,
        error: ServiceError,
        failures: list[tuple[ChatModel, ServiceError]],
    ) -> None:
        _log.warning(
            "chat model failed",
            provider=model.name,
            model=model.card.name,
            reason=error.reason,
            error=str(error),
        )
        failures.append((model, error))
        if self._usage is not None:
            self._usage.count_failure(model.name, model.card.name, error.reason)

    def _note_break(self, given: Completion, error: ServiceError) -> None:
        _log.warning(
            "chat model broke off",
            provider=given.provider,
            model=given.model,
            reason=error.reason,
            error=str(error),
        )
        if self._usage is not None:
            self._usage.count_failure(given.provider, given.model, error.reason)

    def _bounded(self, deadline: Deadline | None) -> Deadline | None:
        given = current_deadline()
        if deadline is None or (given is not None and given.remaining() < deadline.remaining()):
            return given
        return deadline

    def _count_stream(self, stream: ChatStream) -> None:
        try:
            completion = stream.completion
        except RuntimeError:
            return  # its reader left early
        self._count(completion)

    def _count(self, completion: Completion) -> None:
        if self._usage is not None:
            self._usage.count(completion)


@asynccontextmanager
async def _begun_within(model: ChatModel, own: Deadline | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(None if own is None else own.remaining()):
            yield
    except TimeoutError as error:
        raise DeadlineExceeded(f"{model.name} began no answer in its share of the time") from error


def _capped(request: ChatRequest, model: ChatModel, cap: int) -> ChatRequest:
    room = model.card.context_tokens - estimated_prompt_tokens(request)
    if room < min(cap, _SHORTEST_ANSWER):
        raise Unavailable(
            f"{model.name}/{model.card.name} cannot hold the prompt and an answer in its "
            f"{model.card.context_tokens} tokens",
            reason="PROMPT_TOO_LONG",
        )
    return replace(request, max_output_tokens=min(cap, room))


def _require_payable(model: ChatModel, may_pay: bool) -> None:
    price = model.card.price
    if not may_pay and (price is None or not price.is_free):
        raise ResourceExhausted(
            "the daily cost cap of the workspace is reached", reason="DAILY_COST_CAP_REACHED"
        )


def _own_deadline(deadline: Deadline | None, *, is_last: bool) -> Deadline | None:
    if deadline is None or is_last:
        return deadline
    return Deadline.after(deadline.share(_SHARE), deadline.clock)


def _none_answered(failures: Sequence[tuple[ChatModel, ServiceError]]) -> ServiceError:
    if len(failures) == 1 or all(_is_cost_cap(error) for _, error in failures):
        return failures[0][1]
    told = "; ".join(f"{model.name}/{model.card.name}: {error}" for model, error in failures)
    return Unavailable(f"no chat model answered ({told})", reason="NO_CHAT_MODEL_AVAILABLE")


def _is_cost_cap(error: ServiceError) -> bool:
    return error.reason == "DAILY_COST_CAP_REACHED"
