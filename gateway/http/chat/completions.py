"""Answers in OpenAI's shape, whole or in chunks."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from gateway.answers.checking.checked_answer import Citation
from gateway.answers.events import (
    AnswerCitations,
    AnswerDelta,
    AnswerEnd,
    AnswerEvent,
    AnswerOutcome,
    AnswerTokens,
)
from gateway.answers.whole_answer import WholeAnswer
from gateway.http.errors import error_response
from gateway.http.models.answers import to_citation_body, to_outcome_body

# OpenAI knows no word for an answer that broke off; "length" says that it is not whole.
_FINISH_REASONS = {
    AnswerEnd.COMPLETE: "stop",
    AnswerEnd.TRUNCATED: "length",
    AnswerEnd.INCOMPLETE: "length",
}
_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """The parts that all pieces of one answer share; `created` is in seconds of Unix time."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, answer: WholeAnswer) -> dict[str, Any]:
        """Returns the answer in one piece."""
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": _FINISH_REASONS[answer.outcome.end],
            "logprobs": None,
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": _usage(answer.outcome.tokens),
            **_extras(answer.citations, answer.outcome),
        }

    async def chunks(
        self, events: AsyncGenerator[AnswerEvent, None], *, include_usage: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yields the answer as server-sent events; an error on the way is one, too."""
        citations: tuple[Citation, ...] = ()
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            async with aclosing(events):
                async for event in events:
                    match event:
                        case AnswerDelta(text):
                            yield self._chunk({"content": text})
                        case AnswerCitations():
                            citations = event.citations
                        case AnswerOutcome():
                            yield self._chunk(
                                {}, _FINISH_REASONS[event.end], **_extras(citations, event)
                            )
                            if include_usage:
                                yield self._usage_chunk(event.tokens)
        except Exception as error:
            yield b"data: " + error_response(error).body + b"\n\n"
        yield _DONE

    def _chunk(
        self, delta: dict[str, str], finish_reason: str | None = None, **extras: Any
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice], **extras})

    def _usage_chunk(self, tokens: AnswerTokens) -> bytes:
        head = self._head("chat.completion.chunk")
        return _event({**head, "choices": [], "usage": _usage(tokens)})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _extras(citations: tuple[Citation, ...], outcome: AnswerOutcome) -> dict[str, Any]:
    """Returns what OpenAI does not know: citations, why a question was refused, the receipt."""
    ended = to_outcome_body(outcome)
    return {
        "citations": [to_citation_body(each).model_dump(mode="json") for each in citations],
        "refusal": None if ended.refusal is None else ended.refusal.model_dump(mode="json"),
        "receipt": ended.receipt.model_dump(mode="json", exclude_none=True),
    }


def _usage(tokens: AnswerTokens) -> dict[str, int]:
    return {
        "prompt_tokens": tokens.input_count,
        "completion_tokens": tokens.output_count,
        "total_tokens": tokens.input_count + tokens.output_count,
    }


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"
