"""Questions from messages of the gateway, and found passages to them."""

from __future__ import annotations

from datetime import datetime

from chassis.errors import InvalidArgument
from gateway.documents import Document
from gateway.questions import FoundPassages, Hit, Question
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.searching import SpaceScore
from gateway.wire.filters import filter_from, threshold_from
from gateway.wire.fusion import fusion_from
from gateway.wire.metadata import metadata_from, write_metadata_value
from gateway.wire.moments import write_moment
from gateway.wire.receipt import to_receipt
from justesse.gateway.v1 import search_pb2

_ROLES = {
    search_pb2.CONVERSATION_ROLE_USER: ConversationRole.USER,
    search_pb2.CONVERSATION_ROLE_ASSISTANT: ConversationRole.ASSISTANT,
}


def question_from(request: search_pb2.SearchPassagesRequest) -> Question:
    """Reads a question; errors name the field."""
    return Question(
        workspace=request.workspace,
        query=request.query,
        limit=request.limit if request.HasField("limit") else None,
        history=tuple(
            _turn_from(turn, f"history[{index}]") for index, turn in enumerate(request.history)
        ),
        filter=filter_from(request.filter) if request.HasField("filter") else None,
        thresholds=tuple(
            threshold_from(threshold, f"thresholds[{index}]")
            for index, threshold in enumerate(request.thresholds)
        ),
        context=metadata_from(request.context, "context"),
        passages_per_document=request.passages_per_document,
        fusion=fusion_from(request.fusion),
        page_token=request.page_token,
        group_by_document=request.group_by_document,
        highlight=request.highlight,
        candidate_count=request.candidate_count,
        include_parents=request.include_parents,
    )


def _turn_from(message: search_pb2.ConversationTurn, field: str) -> ConversationTurn:
    role = _ROLES.get(message.role)
    if role is None:
        raise InvalidArgument(
            f"{field}.role must be user or assistant, not {message.role}", field=f"{field}.role"
        )
    return ConversationTurn(role, message.text)


def to_search_response(found: FoundPassages) -> search_pb2.SearchPassagesResponse:
    """Writes found passages with their receipt."""
    response = search_pb2.SearchPassagesResponse(
        receipt=to_receipt(found.receipt),
        searched_queries=found.searched_queries,
        next_page_token=found.next_page_token,
        total_count=found.total_count,
        window_cut=found.window_cut,
    )
    for hit in found.hits:
        write_hit(response.hits.add(), hit)
    return response


def write_hit(message: search_pb2.Hit, hit: Hit) -> None:
    """Writes a hit, field by field: messages made apart would be copied into their places."""
    fused, content = hit.fused, hit.fused.content
    passage = content.passage
    message.rank = hit.rank
    message.passage_id = fused.passage_id
    message.text = passage.text
    message.heading_path.extend(passage.heading_path)
    message.location = passage.location
    message.chunk_index = passage.chunk_index
    write_source(message.source, content.document, content.update_time)
    _write_scores(message.scores, hit)
    for span in hit.highlights:
        message.highlights.add(start=span.start, end=span.end)
    if hit.parent is not None:
        message.parent.text = hit.parent.text
        message.parent.first_chunk_index = hit.parent.first_chunk_index
        message.parent.passage_count = hit.parent.passage_count


def to_source(document: Document, update_time: datetime | None) -> search_pb2.Source:
    """Writes where passages come from."""
    source = search_pb2.Source()
    write_source(source, document, update_time)
    return source


def write_source(
    source: search_pb2.Source, document: Document, update_time: datetime | None
) -> None:
    """Writes where passages come from into an empty message."""
    source.external_id = document.external_id
    source.title = document.title
    source.source_uri = document.source_uri
    source.category = document.category
    source.language = document.language
    source.version = document.version
    source.superseded = document.superseded
    if update_time is not None:
        write_moment(source.update_time, update_time)
    for name, value in document.metadata.items():
        write_metadata_value(source.metadata[name], value)


def _write_scores(scores: search_pb2.Scores, hit: Hit) -> None:
    fused = hit.fused
    for place in hit.list_places:
        written = scores.list_ranks.add()
        written.list_name = place.list_name
        written.query_index = place.query_index
        written.rank = place.rank
        written.contribution = place.contribution
    scores.fused_rank = fused.fused_rank
    scores.fused_score = fused.fused_score
    for score in fused.space_scores:
        _write_space_score(scores.space_scores.add(), score)
    if fused.bm25_score is not None:
        scores.bm25_score = fused.bm25_score
    if fused.term_share is not None:
        scores.term_share = fused.term_share
    if hit.rerank_rank is not None:
        scores.rerank_rank = hit.rerank_rank
    if hit.rerank_score is not None:
        scores.rerank_score = hit.rerank_score


def to_space_score(score: SpaceScore) -> search_pb2.SpaceScore:
    """Writes a similarity; what is None is not set."""
    message = search_pb2.SpaceScore()
    _write_space_score(message, score)
    return message


def _write_space_score(message: search_pb2.SpaceScore, score: SpaceScore) -> None:
    message.space_id = score.space_id
    if score.cosine is not None:
        message.cosine = score.cosine
    if score.best_window_cosine is not None:
        message.best_window_cosine = score.best_window_cosine
