"""A model served by Ollama, through its native route.

Streams are lines of JSON, and so may an error be, under a good status. Ollama cuts a prompt that
is longer than `num_ctx` silently, and loads the model anew whenever that number changes, so it is
always the model's own. Reasoning is switched off where the model has it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from chassis.circuit_breaker import CircuitBreaker
from chassis.errors import Unavailable
from chassis.patience import Patience
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_errors import VendorRefused, VendorUnusable
from chat_models.answers import AnswerPart, object_in, object_of, token_count
from chat_models.chat import ChatRequest, FinishReason
from chat_models.chat_client import chat_client
from chat_models.hosted import HostedChat, WireFormat
from chat_models.model_card import ModelCard

NAME = "ollama"
DEFAULT_PORT = 11434
# A model that is not in memory is loaded by the first call.
LOADING_TIMEOUT_S = 300.0

_PATH = "/api/chat"
_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}
# The runner came or went instead of answering.
_NO_ANSWER = ("load", "unload")


def wire_format(card: ModelCard) -> WireFormat:
    """Returns how a model is asked."""

    def body(request: ChatRequest, streamed: bool) -> dict[str, Any]:
        messages = [{"role": each.role.value, "content": each.text} for each in request.messages]
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_output_tokens,
            "num_ctx": card.context_tokens,
        }
        return {
            "model": card.name,
            "messages": messages,
            "stream": streamed,
            "think": False,
            "options": options,
        }

    return WireFormat(_PATH, body, whole_answer, streamed_parts)


def whole_answer(vendor: str, value: Any) -> AnswerPart:
    """Reads an answer that came in one piece."""
    answer = object_of(vendor, value)
    if not isinstance(answer.get("message"), dict):
        raise VendorUnusable(vendor, "answered without a message")
    return _part(vendor, answer)


async def streamed_parts(vendor: str, lines: AsyncIterator[bytes]) -> AsyncIterator[AnswerPart]:
    """Yields the parts of a streamed answer, until one says that it is the last."""
    async for line in lines:
        if not line.strip():
            continue
        chunk = object_in(vendor, line)
        yield _part(vendor, chunk)
        if chunk.get("done") is True:
            return


def _part(vendor: str, answer: Mapping[str, Any]) -> AnswerPart:
    message = answer.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    reason = answer.get("done_reason")
    if reason in _NO_ANSWER:
        raise VendorUnusable(vendor, f"answered with {reason!r} only")
    done = answer.get("done") is True
    return AnswerPart(
        content if isinstance(content, str) else "",
        _finish_reason(reason) if done else None,
        token_count(answer.get("prompt_eval_count")),
        token_count(answer.get("eval_count")),
    )


def _finish_reason(reason: Any) -> FinishReason:
    # Older versions give none.
    if reason is None:
        return FinishReason.STOP
    known = isinstance(reason, str) and reason in _FINISH_REASONS
    return _FINISH_REASONS[reason] if known else FinishReason.OTHER


def ollama_chat(
    connection: Connection, card: ModelCard, breaker: CircuitBreaker, timing: Timing
) -> HostedChat:
    """Makes the model; its checks bring it into Ollama's memory."""
    http = connection.http(NAME, read_timeout_s=LOADING_TIMEOUT_S)
    client = chat_client(connection, http, breaker, timing)
    patience = Patience(
        attempt_timeout_s=LOADING_TIMEOUT_S, total_timeout_s=LOADING_TIMEOUT_S, attempts=1
    )
    loading = chat_client(connection, http, breaker, timing, patience)

    async def load() -> None:
        options = {"num_ctx": card.context_tokens}
        try:
            await loading.post_json(
                _PATH,
                {"model": card.name, "messages": [], "stream": False, "options": options},
            )
        except VendorRefused as refused:
            if refused.status != 404:
                raise
            raise Unavailable(
                f"ollama has no model {card.name}: run `ollama pull {card.name}`",
                reason="MODEL_NOT_LOADED",
            ) from refused

    return HostedChat(NAME, card, wire_format(card), client, prepare=load)
