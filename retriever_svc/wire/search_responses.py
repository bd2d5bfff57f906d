"""Search results."""

from justesse.retriever.v1 import documents_pb2, search_pb2
from retriever_svc.searches import PassageHit, SearchResult, SpaceScore
from retriever_svc.wire.documents import document_message, passage_message
from retriever_svc.wire.fusion_settings import fusion_message
from retriever_svc.wire.moments import timestamp_from
from retriever_svc.wire.workspaces import space_message

_PROVIDER = "embedded"


def search_response(result: SearchResult) -> search_pb2.SearchPassagesResponse:
    """Returns the message of a result."""
    # Several hits of one document share its message.
    documents: dict[str, documents_pb2.Document] = {}
    for hit in result.hits:
        if hit.document.external_id not in documents:
            documents[hit.document.external_id] = document_message(hit.document)
    return search_pb2.SearchPassagesResponse(
        hits=[_hit_message(hit, documents[hit.document.external_id]) for hit in result.hits],
        lists=[
            search_pb2.RankedList(
                variant_index=ranked.variant_index,
                space_id=ranked.space_id,
                hit_count=ranked.hit_count,
                exact=ranked.exact,
                weight=ranked.weight,
            )
            for ranked in result.lists
        ],
        spaces=[space_message(space) for space in result.spaces],
        spaces_version=result.spaces_version,
        spaces_outdated=result.spaces_outdated,
        report=_report(result),
        applied_seq=result.applied_seq,
        fusion=fusion_message(result.fusion),
        total_count=result.total_count,
        window_cut=result.window_cut,
    )


def _hit_message(hit: PassageHit, document: documents_pb2.Document) -> search_pb2.PassageHit:
    return search_pb2.PassageHit(
        passage_id=str(hit.passage_id),
        passage=passage_message(hit.passage),
        document=document,
        fused_rank=hit.fused_rank,
        fused_score=hit.fused_score,
        list_ranks=[
            search_pb2.ListRank(
                list_index=place.list_index, rank=place.rank, contribution=place.contribution
            )
            for place in hit.places
        ],
        space_scores=[score_message(score) for score in hit.space_scores],
        bm25_score=hit.bm25_score,
        update_time=timestamp_from(hit.updated_at),
        term_share=hit.term_share,
        highlights=[search_pb2.TextSpan(start=span.start, end=span.end) for span in hit.highlights],
    )


def score_message(score: SpaceScore) -> search_pb2.SpaceScore:
    """Returns the message of a similarity."""
    return search_pb2.SpaceScore(
        space_id=score.space_id,
        cosine=score.cosine,
        best_window_cosine=score.best_window_cosine,
    )


def _report(result: SearchResult) -> search_pb2.StageReport:
    if result.spaces_outdated:
        return search_pb2.StageReport(
            outcome=search_pb2.STAGE_OUTCOME_DEGRADED,
            reason="SPACES_OUTDATED",
            detail="the spaces have changed since the query was embedded: BM25 alone answered",
            provider=_PROVIDER,
            latency_ms=result.latency_ms,
        )
    return search_pb2.StageReport(
        outcome=search_pb2.STAGE_OUTCOME_RAN,
        detail=_done_in_words(result),
        provider=_PROVIDER,
        latency_ms=result.latency_ms,
    )


def _done_in_words(result: SearchResult) -> str:
    drops = "".join(
        f"; thresholds[{index}] dropped {count}" for index, count in result.drop_counts.items()
    )
    return f"fused with {result.fusion.in_words()}{drops}"
