"""Wishes for contexts from messages of the gateway, and contexts to them."""

from __future__ import annotations

from chassis.errors import InvalidArgument
from gateway.context.formats import ContextFormat, ContextLanguage, NumberedSource
from gateway.context.of_retrieval import ContextWishes
from gateway.context.work_instruction import WorkInstruction
from gateway.contexts import ContextAnswer
from gateway.wire.receipt import to_receipt
from justesse.gateway.v1 import answers_pb2, context_pb2

_FORMATS = {
    context_pb2.CONTEXT_FORMAT_NUMBERED: ContextFormat.NUMBERED,
    context_pb2.CONTEXT_FORMAT_TITLED: ContextFormat.TITLED,
    context_pb2.CONTEXT_FORMAT_HEADED: ContextFormat.HEADED,
}
_MESSAGES = {style: message for message, style in _FORMATS.items()}


def wishes_from(
    request: context_pb2.BuildContextRequest | answers_pb2.AnswerQuestionRequest,
) -> ContextWishes:
    """Reads what a caller wants; InvalidArgument names the field."""
    unspecified = request.format == context_pb2.CONTEXT_FORMAT_UNSPECIFIED
    if not unspecified and request.format not in _FORMATS:
        raise InvalidArgument(f"format {request.format} is not known", field="format")
    return ContextWishes(
        style=None if unspecified else _FORMATS[request.format],
        language=language_from(request.language),
        token_budget=request.token_budget,
        instruction=WorkInstruction(request.role, request.permissions_note, request.live_data),
    )


def language_from(code: str) -> ContextLanguage | None:
    """Reads "fr" or "en"; empty is None. InvalidArgument for anything else."""
    try:
        return ContextLanguage(code) if code else None
    except ValueError:
        raise InvalidArgument(
            f"language is {code[:20]!r}; expected 'fr' or 'en'", field="language"
        ) from None


def to_context_response(answer: ContextAnswer) -> context_pb2.BuildContextResponse:
    """Writes a context with its receipt."""
    context = answer.context
    left_out = context.left_out
    return context_pb2.BuildContextResponse(
        block=context.block,
        format=_MESSAGES[context.style],
        language=context.language.value,
        sources=map(_to_source, context.sources),
        system_prompt=context.system_prompt,
        user_prompt=context.user_prompt,
        boundary=context.boundary,
        token_estimate=context.token_estimate,
        left_out=context_pb2.LeftOutPassages(
            superseded_count=left_out.superseded,
            over_document_bound_count=left_out.over_document_bound,
            over_budget_count=left_out.over_budget,
        ),
        cut=context.is_cut,
        searched_queries=answer.searched_queries,
        receipt=to_receipt(answer.receipt),
    )


def _to_source(numbered: NumberedSource) -> context_pb2.ContextSource:
    source = numbered.source
    return context_pb2.ContextSource(
        index=numbered.index,
        mark=numbered.mark,
        document_id=source.external_id,
        title=source.title,
        source_uri=source.source_uri,
        heading_path=source.heading_path,
        page=source.location,
        passage_ids=[hit.fused.passage_id for hit in source.hits],
        rank=source.rank,
    )
