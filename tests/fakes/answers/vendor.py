"""What a chat vendor does to an answer: all that can go wrong, in OpenAI's wire format."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson

from chassis.circuit_breaker import CircuitBreaker
from chassis.cost_ledger import CostLedger
from chat_models.chain import ChatChain
from chat_models.model_card import ModelCard
from chat_models.protocol import ChatModel
from gateway.answers.model_attempt import AnswerModels
from tests.fakes.chat_vendor import CARD, OPENAI, Vendor, chat_of, choice, delta, events
from tests.fakes.vendor import FakeVendor, Reaction, chunked

USAGE = {"choices": [], "usage": choice("")["usage"]}
"""Twenty tokens read, five written."""


def says(text: str, *, size: int = 3, finish_reason: str = "stop") -> Reaction:
    """Writes a text in pieces of so many characters, and says why it stops."""
    return chunked(*_pieces(text, size), events(delta("", finish_reason), USAGE))


def breaks_off(text: str, ending: str, *, size: int = 3) -> Reaction:
    """Writes a text, then is lost: `ending` is "cut", or "silent" for ever."""
    return chunked(*_pieces(text, size), ending=ending)


def says_nothing() -> Reaction:
    """Answers well, without a word."""
    return chunked(events(delta("", "stop"), USAGE))


def asked(vendor: FakeVendor, call: int = -1) -> dict[str, Any]:
    """Returns the body of a request that the vendor got."""
    body: dict[str, Any] = orjson.loads(vendor.received[call].body)
    return body


@asynccontextmanager
async def answer_models(
    *reactions: Reaction,
    vendor: Vendor = OPENAI,
    idle_limit_s: float = 30.0,
    daily_cap: float | None = None,
    card: ModelCard = CARD,
    behind: Sequence[ChatModel] = (),
) -> AsyncIterator[tuple[FakeVendor, AnswerModels]]:
    """Runs a vendor that reacts like this, and the models that ask it for answers.

    However often it fails, it is asked again, and those `behind` it after each failure.
    """
    breaker = CircuitBreaker(vendor.name, threshold=1_000)
    async with chat_of(vendor, *reactions, card=card, breaker=breaker) as (server, chat):
        chain = ChatChain([chat, *behind])
        yield server, AnswerModels(chain, CostLedger(daily_cap), idle_limit_s)


def _pieces(text: str, size: int) -> Iterable[bytes]:
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return [events(delta(piece), done=False) for piece in cut]
