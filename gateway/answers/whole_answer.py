"""An answer in one piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from gateway.answers.checking.checked_answer import Citation
from gateway.answers.events import (
    AnswerCitations,
    AnswerDelta,
    AnswerEvent,
    AnswerOutcome,
    AnswerSources,
)


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """All deltas joined, what they cite, and how they ended."""

    text: str
    citations: tuple[Citation, ...]
    outcome: AnswerOutcome


async def whole_answer(events: AsyncGenerator[AnswerEvent, None]) -> WholeAnswer:
    """Reads an answer to its end; raises what its events raise."""
    texts: list[str] = []
    citations: tuple[Citation, ...] = ()
    outcome: AnswerOutcome | None = None
    async with aclosing(events):
        async for event in events:
            match event:
                case AnswerSources():
                    pass
                case AnswerDelta(text):
                    texts.append(text)
                case AnswerCitations():
                    citations = event.citations
                case AnswerOutcome():
                    outcome = event
    assert outcome is not None
    return WholeAnswer("".join(texts), citations, outcome)
