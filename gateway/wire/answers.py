"""Questions to be answered from messages of the gateway, and events of answers to them."""

from __future__ import annotations

from gateway.answers.checking.checked_answer import Citation
from gateway.answers.events import (
    AnswerCitations,
    AnswerDelta,
    AnswerEnd,
    AnswerEvent,
    AnswerOrigin,
    AnswerOutcome,
    AnswerSources,
)
from gateway.context.formats import NumberedSource
from gateway.wire.receipt import to_receipt
from justesse.gateway.v1 import answers_pb2 as pb

_ORIGINS = {
    AnswerOrigin.MODEL: pb.ANSWER_ORIGIN_MODEL,
    AnswerOrigin.EXTRACTED: pb.ANSWER_ORIGIN_EXTRACTED,
    AnswerOrigin.REFUSED: pb.ANSWER_ORIGIN_REFUSED,
}
_ENDS = {
    AnswerEnd.COMPLETE: pb.ANSWER_END_COMPLETE,
    AnswerEnd.TRUNCATED: pb.ANSWER_END_TRUNCATED,
    AnswerEnd.INCOMPLETE: pb.ANSWER_END_INCOMPLETE,
}


def to_answer_response(event: AnswerEvent) -> pb.AnswerQuestionResponse:
    """Writes one event."""
    match event:
        case AnswerSources(sources):
            told = pb.AnswerSources(sources=map(_to_source, sources))
            return pb.AnswerQuestionResponse(sources=told)
        case AnswerDelta(text):
            return pb.AnswerQuestionResponse(delta=pb.AnswerDelta(text=text))
        case AnswerCitations(citations):
            cited = pb.AnswerCitations(citations=map(_to_citation, citations))
            return pb.AnswerQuestionResponse(citations=cited)
        case AnswerOutcome():
            return pb.AnswerQuestionResponse(outcome=_to_outcome(event))


def _to_source(numbered: NumberedSource) -> pb.AnswerSource:
    source = numbered.source
    return pb.AnswerSource(
        index=numbered.index,
        document_id=source.external_id,
        title=source.title,
        source_uri=source.source_uri,
        heading_path=source.heading_path,
        page=source.location,
        text=source.text,
    )


def _to_citation(citation: Citation) -> pb.Citation:
    return pb.Citation(
        index=citation.index,
        document_id=citation.document_id,
        title=citation.title,
        source_uri=citation.source_uri,
        heading_path=citation.heading_path,
        page=citation.page,
    )


def _to_outcome(outcome: AnswerOutcome) -> pb.AnswerOutcome:
    refusal, tokens, checked = outcome.refusal, outcome.tokens, outcome.checked
    return pb.AnswerOutcome(
        origin=_ORIGINS[outcome.origin],
        end=_ENDS[outcome.end],
        refusal=None
        if refusal is None
        else pb.AnswerRefusal(reason=refusal.reason, detail=refusal.detail),
        token_usage=pb.TokenUsage(
            input_token_count=tokens.input_count,
            output_token_count=tokens.output_count,
            estimated=tokens.estimated,
        ),
        unknown_citation_count=checked.unknown_citation_count,
        removed_link_count=checked.removed_links,
        uncited_sentence_count=checked.uncited_count,
        unsupported_sentence_count=checked.unsupported_count,
        cut_sentence_count=checked.cut_count,
        language_mismatch=outcome.language_mismatch,
        receipt=to_receipt(outcome.receipt),
    )
