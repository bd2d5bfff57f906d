"""Searches of the retriever over gRPC."""

from __future__ import annotations

from functools import partial

import grpc
import numpy as np

from gateway.clients.retriever_messages import (
    document_from,
    listed_document_from,
    passage_from,
    update_time_from,
)
from gateway.clients.retriever_workspaces import spaces_from
from gateway.clients.service_errors import errors_of
from gateway.clients.stage_reports import stage_report_from
from gateway.documents import DocumentPage
from gateway.filters import Filter
from gateway.searching import (
    FusedHit,
    FusedHits,
    HitContent,
    ListRank,
    PassageSearch,
    QueryVariant,
    RankedList,
    SearchMode,
    SpaceScore,
)
from gateway.wire.filters import write_filter, write_threshold
from gateway.wire.metadata import write_metadata_value
from justesse.retriever.v1 import search_pb2, search_pb2_grpc

_MODES = {
    SearchMode.HYBRID: search_pb2.SEARCH_MODE_HYBRID,
    SearchMode.DENSE: search_pb2.SEARCH_MODE_DENSE,
    SearchMode.LEXICAL: search_pb2.SEARCH_MODE_LEXICAL,
}


class RetrieverSearch:
    """Implements the `PassageIndex` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._search = search_pb2_grpc.SearchServiceStub(channel)

    async def search_passages(
        self, search: PassageSearch, *, timeout: float | None = None
    ) -> FusedHits:
        """Fuses the lists of one search; NotFound where there is no such workspace."""
        with errors_of("retriever"):
            response = await self._search.SearchPassages(to_search_request(search), timeout=timeout)
        return FusedHits(
            hits=tuple([_hit_from(hit) for hit in response.hits]),
            lists=tuple(
                RankedList(ranked.variant_index, ranked.space_id, ranked.hit_count, ranked.exact)
                for ranked in response.lists
            ),
            spaces=spaces_from(response.spaces),
            spaces_version=response.spaces_version,
            spaces_outdated=response.spaces_outdated,
            report=stage_report_from("search", response.report),
            applied_seq=response.applied_seq,
            total_count=response.total_count,
            window_cut=response.window_cut,
        )

    async def find_documents(
        self,
        workspace: str,
        condition: Filter,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Lists and counts the documents that fulfil a condition, otherwise as `list_documents`."""
        request = search_pb2.FindDocumentsRequest(
            workspace=workspace, page_size=page_size, page_token=page_token
        )
        write_filter(request.filter, condition)
        with errors_of("retriever"):
            response = await self._search.FindDocuments(request, timeout=timeout)
        return DocumentPage(
            documents=tuple(listed_document_from(listed) for listed in response.documents),
            next_page_token=response.next_page_token,
            total_count=response.total_count,
        )


def to_search_request(search: PassageSearch) -> search_pb2.SearchPassagesRequest:
    """Writes a search."""
    request = search_pb2.SearchPassagesRequest(
        workspace=search.workspace,
        variants=map(_to_variant, search.variants),
        mode=_MODES[search.mode],
        candidate_count=search.candidate_count,
        limit=search.limit,
        spaces_version=search.spaces_version,
        rank_constant=search.fusion.rank_constant,
        lexical_weight=search.fusion.lexical_weight,
        dense_weight=search.fusion.dense_weight,
        space_weights=search.fusion.space_weights,
    )
    if search.filter is not None:
        write_filter(request.filter, search.filter)
    for threshold in search.thresholds:
        write_threshold(request.thresholds.add(), threshold)
    for name, value in search.context.items():
        write_metadata_value(request.context[name], value)
    return request


def _to_variant(variant: QueryVariant) -> search_pb2.QueryVariant:
    return search_pb2.QueryVariant(
        text=variant.text,
        vectors=[
            search_pb2.QueryVector(
                space_id=query.space_id, vector=np.asarray(query.vector, dtype="<f4").tobytes()
            )
            for query in variant.vectors
        ],
        weight=variant.dense_weight,
        lexical_weight=variant.lexical_weight,
    )


def _hit_from(hit: search_pb2.PassageHit) -> FusedHit:
    return FusedHit(
        hit.passage_id,
        partial(_content_from, hit),
        hit.fused_rank,
        hit.fused_score,
        tuple([space_score_from(score) for score in hit.space_scores]),
        hit.bm25_score if hit.HasField("bm25_score") else None,
        hit.term_share if hit.HasField("term_share") else None,
    )


def _content_from(hit: search_pb2.PassageHit) -> HitContent:
    return HitContent(
        passage_from(hit.passage),
        document_from(hit.document),
        update_time_from(hit.update_time) if hit.HasField("update_time") else None,
        tuple(
            [ListRank(place.list_index, place.rank, place.contribution) for place in hit.list_ranks]
        ),
    )


def space_score_from(message: search_pb2.SpaceScore) -> SpaceScore:
    """Reads a similarity; what is not set is None."""
    return SpaceScore(
        message.space_id,
        message.cosine if message.HasField("cosine") else None,
        message.best_window_cosine if message.HasField("best_window_cosine") else None,
    )
