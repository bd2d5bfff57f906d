"""Chat vendors on a real socket, and chat models that talk to them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from chat_models.catalogue import Builder
from chat_models.chat import ChatMessage, ChatRequest, ChatRole
from chat_models.hosted import HostedChat
from chat_models.mistral import mistral_chat
from chat_models.model_card import ModelCard, TokenPrice
from chat_models.ollama import ollama_chat
from chat_models.openai_compatible import openai_compatible_chat
from tests.fakes.vendor import FakeVendor, Reaction, chunked, fake_vendor, reply

KEY = "sk-very-secret-0123456789"
QUESTION = "Quel est le délai de livraison ?"
REQUEST = ChatRequest((ChatMessage(ChatRole.USER, QUESTION),), max_output_tokens=50)
CARD = ModelCard("model-1", context_tokens=4096, price=TokenPrice(1.0, 10.0, "EUR"))


def choice(content: Any, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """An answer of OpenAI's shape."""
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "model-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    }


def ollama_answer(content: str, **fields: Any) -> dict[str, Any]:
    """An answer of Ollama's native route."""
    message = {"role": "assistant", "content": content}
    counts = {"prompt_eval_count": 20, "eval_count": 5, "total_duration": 5_191_566_416}
    return {"model": "model-1", "message": message, "done": True, **counts, **fields}


def delta(content: Any, finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a stream of OpenAI's shape."""
    piece = {"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "choices": [piece], **fields}


def events(*values: Any, done: bool = True) -> bytes:
    """Server-Sent Events with these values, and [DONE] after them."""
    data = [json.dumps(value, ensure_ascii=False) for value in values] + ["[DONE]"] * done
    return "".join(f"data: {each}\n\n" for each in data).encode()


def json_lines(*values: Any) -> bytes:
    """Lines of JSON."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor: how its model is made, and how it wraps a text, whole or in pieces."""

    name: str
    build: Builder
    base_path: str
    path: str

    def answer(self, text: str) -> Reaction:
        """Answers with this text."""
        return reply(ollama_answer(text) if self.name == "ollama" else choice(text))

    def stream(self, pieces: Sequence[str]) -> Reaction:
        """Answers with these pieces, each sent by itself."""
        if self.name == "ollama":
            parts = [{"message": {"content": piece}, "done": False} for piece in pieces]
            return chunked(*map(json_lines, parts), json_lines(ollama_answer("")))
        usage = {"choices": [], "usage": choice("")["usage"]}
        sent = [events(delta(piece), done=False) for piece in pieces]
        return chunked(*sent, events(delta("", "stop"), usage))


MISTRAL = Vendor("mistral", mistral_chat, "/v1", "/v1/chat/completions")
OPENAI = Vendor("openai", openai_compatible_chat, "/v1", "/v1/chat/completions")
OLLAMA = Vendor("ollama", ollama_chat, "", "/api/chat")
VENDORS = (MISTRAL, OPENAI, OLLAMA)


@asynccontextmanager
async def chat_of(
    vendor: Vendor,
    *reactions: Reaction,
    timing: Timing | None = None,
    breaker: CircuitBreaker | None = None,
    card: ModelCard = CARD,
) -> AsyncIterator[tuple[FakeVendor, HostedChat]]:
    """Runs a vendor that reacts like this, and a model that talks to it."""
    async with fake_vendor(*reactions) as server:
        connection = Connection(server.url + vendor.base_path, SecretStr(KEY))
        chat = vendor.build(
            connection, card, breaker or CircuitBreaker(vendor.name), timing or Timing()
        )
        try:
            yield server, chat
        finally:
            await chat.close()
