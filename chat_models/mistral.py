"""Mistral's chat API: OpenAI's shape, but few of its keys; the rest is refused.

Usage comes in the last chunk of a stream without being asked for. Content may be a list of parts,
some of them thinking.
"""

from __future__ import annotations

from typing import Any

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from chat_models.chat import ChatRequest
from chat_models.chat_client import ATTEMPT_TIMEOUT_S, chat_client, list_models
from chat_models.choices import streamed_parts, whole_answer
from chat_models.hosted import HostedChat, WireFormat
from chat_models.model_card import ModelCard

NAME = "mistral"
BASE_URL = "https://api.mistral.ai/v1"


def wire_format(model: str) -> WireFormat:
    """Returns how a model is asked: with the keys that Mistral knows, and no others."""

    def body(request: ChatRequest, streamed: bool) -> dict[str, Any]:
        messages = [{"role": each.role.value, "content": each.text} for each in request.messages]
        return {
            "model": model,
            "messages": messages,
            "temperature": request.temperature,
            "max_tokens": request.max_output_tokens,
            "stream": streamed,
        }

    return WireFormat("/chat/completions", body, whole_answer, streamed_parts)


def mistral_chat(
    connection: Connection, card: ModelCard, breaker: CircuitBreaker, timing: Timing
) -> HostedChat:
    """Makes the model; nothing is sent before its first use. A check lists the models."""
    client = chat_client(connection, connection.http(NAME, ATTEMPT_TIMEOUT_S), breaker, timing)

    return HostedChat(
        NAME, card, wire_format(card.name), client, prepare=lambda: list_models(client)
    )
