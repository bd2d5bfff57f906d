"""Questions from messages of the gateway, and found passages to them."""

from __future__ import annotations

from datetime import datetime

from chassis.errors import InvalidArgument
from gateway.documents import Document, Parent
from gateway.questions import DEFAULT_LIMIT, FoundPassages, Hit, Question
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.searching import SpaceScore
from gateway.wire.filters import filter_from, threshold_from
from gateway.wire.fusion import fusion_from
from gateway.wire.metadata import metadata_from, write_metadata_value
from gateway.wire.moments import to_timestamp
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
        limit=request.limit if request.HasField("limit") else DEFAULT_LIMIT,
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
    return search_pb2.SearchPassagesResponse(
        hits=map(to_hit, found.hits),
        receipt=to_receipt(found.receipt),
        searched_queries=found.searched_queries,
        next_page_token=found.next_page_token,
        total_count=found.total_count,
        window_cut=found.window_cut,
    )


def to_hit(hit: Hit) -> search_pb2.Hit:
    """Writes a hit."""
    passage = hit.fused.passage
    return search_pb2.Hit(
        rank=hit.rank,
        passage_id=hit.fused.passage_id,
        text=passage.text,
        heading_path=passage.heading_path,
        location=passage.location,
        chunk_index=passage.chunk_index,
        source=to_source(hit.fused.document, hit.fused.update_time),
        scores=_to_scores(hit),
        highlights=[search_pb2.TextSpan(start=span.start, end=span.end) for span in hit.highlights],
        parent=None if hit.parent is None else _to_parent(hit.parent),
    )


def _to_parent(parent: Parent) -> search_pb2.Parent:
    return search_pb2.Parent(
        text=parent.text,
        first_chunk_index=parent.first_chunk_index,
        passage_count=parent.passage_count,
    )


def to_source(document: Document, update_time: datetime | None) -> search_pb2.Source:
    """Writes where passages come from."""
    source = search_pb2.Source(
        external_id=document.external_id,
        title=document.title,
        source_uri=document.source_uri,
        category=document.category,
        language=document.language,
        version=document.version,
        superseded=document.superseded,
        update_time=to_timestamp(update_time),
    )
    for name, value in document.metadata.items():
        write_metadata_value(source.metadata[name], value)
    return source


def _to_scores(hit: Hit) -> search_pb2.Scores:
    return search_pb2.Scores(
        list_ranks=[
            search_pb2.ListRank(
                list_name=place.list_name,
                query_index=place.query_index,
                rank=place.rank,
                contribution=place.contribution,
            )
            for place in hit.list_places
        ],
        fused_rank=hit.fused.fused_rank,
        fused_score=hit.fused.fused_score,
        space_scores=map(to_space_score, hit.fused.space_scores),
        bm25_score=hit.fused.bm25_score,
        term_share=hit.fused.term_share,
        rerank_rank=hit.rerank_rank,
        rerank_score=hit.rerank_score,
    )


def to_space_score(score: SpaceScore) -> search_pb2.SpaceScore:
    """Writes a similarity; what is None is not set."""
    return search_pb2.SpaceScore(
        space_id=score.space_id,
        cosine=score.cosine,
        best_window_cosine=score.best_window_cosine,
    )
