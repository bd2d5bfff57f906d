"""What a chat model is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ChatRole(Enum):
    """Who speaks a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation to be continued; its last message is the user's.

    `max_output_tokens` caps the answer, 1 or more; `temperature` is 0 to 1, the range that every
    vendor takes.
    """

    messages: tuple[ChatMessage, ...]
    max_output_tokens: int
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if not self.messages or self.messages[-1].role is not ChatRole.USER:
            raise ValueError("the last message of a chat request must be the user's")
        if self.max_output_tokens < 1:
            raise ValueError(f"max_output_tokens must be 1 or more, not {self.max_output_tokens}")
        if not 0.0 <= self.temperature <= 1.0:
            raise ValueError(f"temperature must be 0 to 1, not {self.temperature:g}")


class FinishReason(Enum):
    """Why the model stopped writing."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens read and written; `estimated` from the length of the texts where nobody counted."""

    input_tokens: int
    output_tokens: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer without its reasoning, with who gave it and at what price.

    `text` has no white space around it, and is empty only where the model refused or was cut off
    before it wrote anything. `cost` is in units of `currency` (ISO 4217), None where the price is
    unknown.
    """

    text: str
    finish_reason: FinishReason
    usage: TokenUsage
    provider: str
    model: str
    latency_ms: float
    cost: float | None = None
    currency: str = ""
