"""Any server that speaks OpenAI's chat API: OpenAI, vLLM, llama.cpp, LM Studio and others.

They differ in optional keys: OpenAI caps the answer by `max_completion_tokens`, the others by
`max_tokens`; models that reason refuse a temperature; usage has to be asked for in a stream, by a
key that some refuse. What a server refuses is left out or renamed from then on.
"""

from __future__ import annotations

import re
from typing import Any

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_errors import VendorRefused
from chat_models.chat import ChatRequest
from chat_models.chat_client import ATTEMPT_TIMEOUT_S, chat_client, list_models
from chat_models.choices import streamed_parts, whole_answer
from chat_models.hosted import HostedChat, WireFormat
from chat_models.model_card import ModelCard

NAME = "openai"
BASE_URL = "https://api.openai.com/v1"

_OLD_CAP, _NEW_CAP = "max_tokens", "max_completion_tokens"
_OPTIONAL = ("stream_options", "temperature")
_ABOUT_KEYS = frozenset({400, 422})


class Dialect:
    """Which optional keys a server takes, as far as is known by now."""

    def __init__(self, cap: str) -> None:
        self._cap = cap
        self._caps_left = [key for key in (_OLD_CAP, _NEW_CAP) if key != cap]
        self._taken = set(_OPTIONAL)

    def options(self, request: ChatRequest, streamed: bool) -> dict[str, Any]:
        """Returns the optional keys of a request."""
        wanted: dict[str, Any] = {"temperature": request.temperature}
        if streamed:
            wanted["stream_options"] = {"include_usage": True}
        options = {key: value for key, value in wanted.items() if key in self._taken}
        return options | {self._cap: request.max_output_tokens}

    def adapt(self, refused: VendorRefused) -> bool:
        """Learns from a refusal that names a key; returns whether there was something to learn."""
        if refused.status not in _ABOUT_KEYS:
            return False
        # OpenAI names the key to use beside the one it refuses.
        if self._caps_left and _names(self._cap, refused):
            self._cap = self._caps_left.pop()
            return True
        for key in _OPTIONAL:
            if key in self._taken and _names(key, refused):
                self._taken.remove(key)
                return True
        return False


def _names(key: str, refused: VendorRefused) -> bool:
    return re.search(rf"\b{key}\b", refused.excerpt) is not None


def wire_format(model: str, dialect: Dialect) -> WireFormat:
    """Returns how a model is asked."""

    def body(request: ChatRequest, streamed: bool) -> dict[str, Any]:
        messages = [{"role": each.role.value, "content": each.text} for each in request.messages]
        options = dialect.options(request, streamed)
        return {"model": model, "messages": messages, "stream": streamed, **options}

    return WireFormat("/chat/completions", body, whole_answer, streamed_parts, dialect.adapt)


def openai_compatible_chat(
    connection: Connection, card: ModelCard, breaker: CircuitBreaker, timing: Timing
) -> HostedChat:
    """Makes the model; nothing is sent before its first use. A check lists the models."""
    client = chat_client(connection, connection.http(NAME, ATTEMPT_TIMEOUT_S), breaker, timing)
    dialect = Dialect(_NEW_CAP if connection.base_url == BASE_URL else _OLD_CAP)
    return HostedChat(
        NAME, card, wire_format(card.name, dialect), client, prepare=lambda: list_models(client)
    )
