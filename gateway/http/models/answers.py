"""Questions to be answered, and answers, in JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, StrictBool

from gateway.answers.checking.checked_answer import Citation
from gateway.answers.events import (
    AnswerCitations,
    AnswerDelta,
    AnswerEvent,
    AnswerOutcome,
    AnswerSources,
)
from gateway.answers.whole_answer import WholeAnswer
from gateway.context.formats import NumberedSource
from gateway.http.models.context import ContextBody
from gateway.http.models.receipt import ReceiptBody, to_receipt_body


class AnswerBody(ContextBody):
    """A question to a workspace that is to be answered in words, in the question's language."""

    stream: StrictBool = Field(
        default=False, description="answer as server-sent events, as with Accept: text/event-stream"
    )


class CitationBody(BaseModel):
    """What a number in the answer stands for."""

    index: int
    document_id: str
    title: str
    source_uri: str
    heading_path: list[str]
    page: str


class AnswerSourceBody(CitationBody):
    """One source, with its number in the context; citations have numbers of their own."""

    text: str


class TokenUsageBody(BaseModel):
    """Tokens that chat models read and wrote; estimated where a provider did not count."""

    input_token_count: int
    output_token_count: int
    estimated: bool


class AnswerRefusalBody(BaseModel):
    """Why the question was not answered."""

    reason: str
    detail: str


class AnswerReceiptBody(ReceiptBody):
    """How the answer came about, and what every stage did for it.

    `origin` is MODEL, EXTRACTED or REFUSED, `end` is COMPLETE, TRUNCATED or INCOMPLETE.
    """

    origin: str
    end: str
    unknown_citation_count: int
    removed_link_count: int
    uncited_sentence_count: int
    unsupported_sentence_count: int
    cut_sentence_count: int
    language_mismatch: bool


class WholeAnswerBody(BaseModel):
    """An answer; `refusal` is null where the question was answered."""

    answer: str
    citations: list[CitationBody]
    token_usage: TokenUsageBody
    refusal: AnswerRefusalBody | None
    receipt: AnswerReceiptBody


class AnswerSourcesBody(BaseModel):
    """The event `sources`."""

    sources: list[AnswerSourceBody]


class AnswerDeltaBody(BaseModel):
    """The event `delta`."""

    text: str


class AnswerCitationsBody(BaseModel):
    """The event `citations`."""

    citations: list[CitationBody]


class AnswerOutcomeBody(BaseModel):
    """The event `outcome`."""

    token_usage: TokenUsageBody
    refusal: AnswerRefusalBody | None
    receipt: AnswerReceiptBody


def to_answer_source_body(numbered: NumberedSource) -> AnswerSourceBody:
    """Writes a source."""
    source = numbered.source
    return AnswerSourceBody(
        index=numbered.index,
        document_id=source.external_id,
        title=source.title,
        source_uri=source.source_uri,
        heading_path=list(source.heading_path),
        page=source.location,
        text=source.text,
    )


def to_citation_body(citation: Citation) -> CitationBody:
    """Writes a citation."""
    return CitationBody(
        index=citation.index,
        document_id=citation.document_id,
        title=citation.title,
        source_uri=citation.source_uri,
        heading_path=list(citation.heading_path),
        page=citation.page,
    )


def to_outcome_body(outcome: AnswerOutcome) -> AnswerOutcomeBody:
    """Writes how an answer ended."""
    refusal, tokens, checked = outcome.refusal, outcome.tokens, outcome.checked
    return AnswerOutcomeBody(
        token_usage=TokenUsageBody(
            input_token_count=tokens.input_count,
            output_token_count=tokens.output_count,
            estimated=tokens.estimated,
        ),
        refusal=None
        if refusal is None
        else AnswerRefusalBody(reason=refusal.reason, detail=refusal.detail),
        receipt=AnswerReceiptBody(
            **dict(to_receipt_body(outcome.receipt)),
            origin=outcome.origin.name,
            end=outcome.end.name,
            unknown_citation_count=checked.unknown_citation_count,
            removed_link_count=checked.removed_links,
            uncited_sentence_count=checked.uncited_count,
            unsupported_sentence_count=checked.unsupported_count,
            cut_sentence_count=checked.cut_count,
            language_mismatch=outcome.language_mismatch,
        ),
    )


def to_whole_answer_body(answer: WholeAnswer) -> WholeAnswerBody:
    """Writes an answer in one piece."""
    ended = to_outcome_body(answer.outcome)
    return WholeAnswerBody(
        answer=answer.text,
        citations=[to_citation_body(citation) for citation in answer.citations],
        token_usage=ended.token_usage,
        refusal=ended.refusal,
        receipt=ended.receipt,
    )


def whole_answer_json(body: WholeAnswerBody) -> dict[str, Any]:
    """Returns the JSON of an answer: always the same five fields, `refusal` being null or not."""
    written = body.model_dump(mode="json", exclude_none=True)
    return {field: written.get(field) for field in WholeAnswerBody.model_fields}


def to_event(event: AnswerEvent) -> tuple[str, BaseModel]:
    """Writes an event and its name."""
    match event:
        case AnswerSources(sources):
            bodies = [to_answer_source_body(source) for source in sources]
            return "sources", AnswerSourcesBody(sources=bodies)
        case AnswerDelta(text):
            return "delta", AnswerDeltaBody(text=text)
        case AnswerCitations(citations):
            cited = [to_citation_body(citation) for citation in citations]
            return "citations", AnswerCitationsBody(citations=cited)
        case AnswerOutcome():
            return "outcome", to_outcome_body(event)
