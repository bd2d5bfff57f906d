"""Answers in words, event by event or whole, with what they cite."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from justesse.client.contexts import ContextOptions, context_message
from justesse.client.errors import JustesseError
from justesse.client.receipt import Receipt, receipt_from
from justesse.client.search_options import SearchOptions
from justesse.gateway.v1 import answers_pb2 as pb


class AnswerOrigin(StrEnum):
    """Who wrote an answer."""

    MODEL = "model"
    """A chat model."""
    EXTRACTED = "extracted"
    """Nobody: sentences of the sources are quoted; the receipt says why."""
    REFUSED = "refused"
    """The service, which refuses: see `AnswerOutcome.refusal`."""
    UNKNOWN = "unknown"
    """An origin that is newer than this client."""


class AnswerEnd(StrEnum):
    """How the writing of an answer ended."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    """The model reached its cap of tokens; a sentence it had begun is left out."""
    INCOMPLETE = "incomplete"
    """The model was lost, or the time was over; a sentence it had begun is left out."""
    UNKNOWN = "unknown"
    """An end that is newer than this client."""


@dataclass(frozen=True, slots=True)
class Citation:
    """What a number in an answer stands for."""

    index: int
    """As it stands in the answer, from 1."""
    document_id: str
    title: str
    source_uri: str
    heading_path: tuple[str, ...]
    page: str
    """Page or sheet the source starts on; empty where there is none."""


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """One source of an answer: a passage, or neighbouring passages of a document."""

    index: int
    """Number in the context, from 1; citations have numbers of their own."""
    document_id: str
    title: str
    source_uri: str
    heading_path: tuple[str, ...]
    page: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerRefusal:
    """Why a question was not answered."""

    reason: str
    """NO_HITS, WEAK_EVIDENCE, SUPERSEDED_ONLY, OVER_BUDGET or MODEL_REFUSED."""
    detail: str
    """The reason in words."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that chat models read and wrote."""

    input_token_count: int
    output_token_count: int
    estimated: bool
    """The provider did not count: estimated from the length of the texts."""


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """The sources, in the order in which the model reads them; first, and once."""

    sources: tuple[AnswerSource, ...]


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of the answer; nothing of it is taken back."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerCitations:
    """What the answer cites; once, after the last piece."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """How an answer came about and how it ended; last, and once."""

    origin: AnswerOrigin
    end: AnswerEnd
    refusal: AnswerRefusal | None
    """None where the question was answered."""
    token_usage: TokenUsage
    unknown_citation_count: int
    """Citations of the model that named no source; they were removed."""
    removed_link_count: int
    """Links and images of the model that no source holds; they were removed."""
    uncited_sentence_count: int
    """Sentences without a citation though they say something; the text notes them."""
    unsupported_sentence_count: int
    """Sentences that their sources do not bear out; the text notes them, or they were cut."""
    cut_sentence_count: int
    """Those of them that were cut."""
    language_mismatch: bool
    """A model wrote in another language than the question's, which was not used."""
    receipt: Receipt


AnswerEvent: TypeAlias = AnswerSources | AnswerDelta | AnswerCitations | AnswerOutcome


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    text: str
    """Markdown; numbers in square brackets are those of the citations."""
    citations: tuple[Citation, ...]
    sources: tuple[AnswerSource, ...]
    outcome: AnswerOutcome


_ORIGINS = {
    pb.ANSWER_ORIGIN_MODEL: AnswerOrigin.MODEL,
    pb.ANSWER_ORIGIN_EXTRACTED: AnswerOrigin.EXTRACTED,
    pb.ANSWER_ORIGIN_REFUSED: AnswerOrigin.REFUSED,
}
_ENDS = {
    pb.ANSWER_END_COMPLETE: AnswerEnd.COMPLETE,
    pb.ANSWER_END_TRUNCATED: AnswerEnd.TRUNCATED,
    pb.ANSWER_END_INCOMPLETE: AnswerEnd.INCOMPLETE,
}


def answer_message(
    workspace: str, question: str, wanted: ContextOptions, options: SearchOptions
) -> pb.AnswerQuestionRequest:
    """Encodes a question; TypeError and ValueError for options that cannot be sent."""
    asked = context_message(workspace, question, wanted, options)
    return pb.AnswerQuestionRequest(
        search=asked.search,
        format=asked.format,
        language=asked.language,
        token_budget=asked.token_budget,
        role=asked.role,
        permissions_note=asked.permissions_note,
        live_data=asked.live_data,
    )


def answer_event_from(message: pb.AnswerQuestionResponse) -> AnswerEvent | None:
    """Decodes an event; None for one that is newer than this client."""
    match message.WhichOneof("event"):
        case "sources":
            return AnswerSources(tuple(map(_source_from, message.sources.sources)))
        case "delta":
            return AnswerDelta(message.delta.text)
        case "citations":
            return AnswerCitations(tuple(map(_citation_from, message.citations.citations)))
        case "outcome":
            return _outcome_from(message.outcome)
        case _:
            return None


def answer_from(events: Iterable[AnswerEvent]) -> Answer:
    """Joins the events of an answer; JustesseError where its end is missing."""
    texts: list[str] = []
    sources: tuple[AnswerSource, ...] = ()
    citations: tuple[Citation, ...] = ()
    outcome: AnswerOutcome | None = None
    for event in events:
        match event:
            case AnswerSources():
                sources = event.sources
            case AnswerDelta():
                texts.append(event.text)
            case AnswerCitations():
                citations = event.citations
            case AnswerOutcome():
                outcome = event
    if outcome is None:
        raise JustesseError("the answer came without its end")
    return Answer("".join(texts), citations, sources, outcome)


def _source_from(message: pb.AnswerSource) -> AnswerSource:
    return AnswerSource(
        message.index,
        message.document_id,
        message.title,
        message.source_uri,
        tuple(message.heading_path),
        message.page,
        message.text,
    )


def _citation_from(message: pb.Citation) -> Citation:
    return Citation(
        message.index,
        message.document_id,
        message.title,
        message.source_uri,
        tuple(message.heading_path),
        message.page,
    )


def _outcome_from(message: pb.AnswerOutcome) -> AnswerOutcome:
    refusal, usage = message.refusal, message.token_usage
    return AnswerOutcome(
        _ORIGINS.get(message.origin, AnswerOrigin.UNKNOWN),
        _ENDS.get(message.end, AnswerEnd.UNKNOWN),
        AnswerRefusal(refusal.reason, refusal.detail) if message.HasField("refusal") else None,
        TokenUsage(usage.input_token_count, usage.output_token_count, usage.estimated),
        message.unknown_citation_count,
        message.removed_link_count,
        message.uncited_sentence_count,
        message.unsupported_sentence_count,
        message.cut_sentence_count,
        message.language_mismatch,
        receipt_from(message.receipt),
    )
