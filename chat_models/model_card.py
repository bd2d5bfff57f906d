"""What is known of a model: how much it reads, and its price."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chat_models.chat import ChatRequest, TokenUsage

_TOKENS = 1_000_000
# Of French text, for which tokenizers need most; English takes about 0.25.
_TOKENS_PER_CHARACTER = 0.35
# Role and borders of a message.
_TOKENS_PER_MESSAGE = 8

UNKNOWN_CONTEXT_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Prices of a million tokens read and of a million written, in units of `currency`."""

    input_per_million: float
    output_per_million: float
    currency: str = "USD"

    def __post_init__(self) -> None:
        for price in (self.input_per_million, self.output_per_million):
            if not (math.isfinite(price) and price >= 0):
                raise ValueError(f"a price must be a number of 0 or more, not {price}")

    def of(self, usage: TokenUsage) -> float:
        """Returns what so many tokens cost."""
        read = self.input_per_million * usage.input_tokens
        return (read + self.output_per_million * usage.output_tokens) / _TOKENS

    @property
    def is_free(self) -> bool:
        """Whether nothing has to be paid."""
        return self.input_per_million == 0 == self.output_per_million


FREE = TokenPrice(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model; `context_tokens` bounds prompt and answer together.

    `price` is None where it is unknown.
    """

    name: str
    context_tokens: int = UNKNOWN_CONTEXT_TOKENS
    price: TokenPrice | None = None


def estimated_tokens(text: str) -> int:
    """Estimates the tokens of a text, rather too many than too few."""
    return math.ceil(len(text) * _TOKENS_PER_CHARACTER)


def cut_to_tokens(text: str, tokens: int) -> str:
    """Returns the beginning of a text that is estimated at so many tokens at most."""
    return text[: int(tokens / _TOKENS_PER_CHARACTER)]


def estimated_prompt_tokens(request: ChatRequest) -> int:
    """Estimates the tokens that the model has to read for a request."""
    return sum(estimated_tokens(message.text) + _TOKENS_PER_MESSAGE for message in request.messages)
