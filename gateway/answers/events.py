"""What a caller hears of an answer while it comes about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gateway.answers.checking.checked_answer import CheckedAnswer, Citation
from gateway.context.formats import NumberedSource
from gateway.receipt import Receipt


class AnswerOrigin(Enum):
    """Who wrote an answer."""

    MODEL = "model"
    EXTRACTED = "extracted"
    """Nobody: sentences of the sources are quoted."""
    REFUSED = "refused"
    """The service itself, which refuses."""


class AnswerEnd(Enum):
    """How the writing of an answer ended."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    """The model reached its cap of tokens."""
    INCOMPLETE = "incomplete"
    """The model fell silent, or was lost, or the time was over."""


@dataclass(frozen=True, slots=True)
class AnswerRefusal:
    """Why a question was not answered; `reason` is UPPER_SNAKE, `detail` its wording."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """Tokens read and written for an answer; `estimated` where a provider did not count."""

    input_count: int = 0
    output_count: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """The sources, in the order in which a model reads them; first, and once."""

    sources: tuple[NumberedSource, ...]


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of the answer, never empty; nothing of it is taken back."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerCitations:
    """What the numbers in the answer stand for; once, after the last piece."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """How an answer came about and how it ended; last, and once.

    `refusal` is None where the question was answered. `checked` is all text that was given out,
    with what the check says of it. `language_mismatch` says that a model wrote in another language
    than the question's, which was not used.
    """

    origin: AnswerOrigin
    end: AnswerEnd
    refusal: AnswerRefusal | None
    tokens: AnswerTokens
    checked: CheckedAnswer
    language_mismatch: bool
    receipt: Receipt


AnswerEvent = AnswerSources | AnswerDelta | AnswerCitations | AnswerOutcome
