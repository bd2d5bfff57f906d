"""Reads answers of the shape that OpenAI gave to chat: `choices` with a `message` or a `delta`.

Content may be a text, null, or a list of parts of which some are reasoning; a refusal may stand
beside it. Usage may be missing, and in a stream comes in a chunk without choices.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from chassis.vendor_errors import VendorUnusable
from chat_models.answers import AnswerPart, object_in, object_of, token_count
from chat_models.chat import FinishReason
from chat_models.server_sent_events import event_data

_DONE = b"[DONE]"
_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
}


def whole_answer(vendor: str, value: Any) -> AnswerPart:
    """Reads an answer that came in one piece; VendorUnusable where there is none in it."""
    answer = object_of(vendor, value)
    choice = _choice(vendor, answer)
    if choice is None:
        raise VendorUnusable(vendor, "answered without choices")
    return _part(vendor, answer, choice, "message")


async def streamed_parts(vendor: str, lines: AsyncIterator[bytes]) -> AsyncIterator[AnswerPart]:
    """Yields the parts of a streamed answer, until [DONE] or the end."""
    async for data in event_data(lines):
        if data.strip() == _DONE:
            return
        chunk = object_in(vendor, data)
        yield _part(vendor, chunk, _choice(vendor, chunk) or {}, "delta")


def _part(
    vendor: str, answer: Mapping[str, Any], choice: Mapping[str, Any], key: str
) -> AnswerPart:
    message = choice.get(key)
    if not isinstance(message, dict):
        message = {}
    text, refused = _text(vendor, message.get("content"))
    finish_reason = _finish_reason(vendor, choice.get("finish_reason"))
    if refused or message.get("refusal"):
        finish_reason = FinishReason.REFUSED
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return AnswerPart(
        text,
        finish_reason,
        token_count(counts.get("prompt_tokens")),
        token_count(counts.get("completion_tokens")),
    )


def _choice(vendor: str, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = answer.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise VendorUnusable(vendor, "answered with choices that are none")
    return choices[0]


def _text(vendor: str, content: Any) -> tuple[str, bool]:
    """Returns the text of a message's content, and whether a part of it is a refusal."""
    if content is None:
        return "", False
    if isinstance(content, str):
        return content, False
    if not isinstance(content, list):
        raise VendorUnusable(vendor, "answered with content that is no text")
    texts = [_text_of_part(part) for part in content]
    refused = any(isinstance(part, dict) and part.get("type") == "refusal" for part in content)
    return "".join(texts), refused


def _text_of_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and part.get("type") in ("text", "output_text"):
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return ""


def _finish_reason(vendor: str, value: Any) -> FinishReason | None:
    if value is None:
        return None
    if value == "error":
        raise VendorUnusable(vendor, "broke off with an error")
    return _FINISH_REASONS.get(value, FinishReason.OTHER) if isinstance(value, str) else None
