"""Search results."""

from justesse.retriever.v1 import search_pb2
from retriever_svc.searches import PassageHit, SearchResult, SpaceScore
from retriever_svc.wire.documents import write_document, write_passage
from retriever_svc.wire.fusion_settings import fusion_message
from retriever_svc.wire.moments import write_timestamp
from retriever_svc.wire.workspaces import space_message

_PROVIDER = "embedded"


def search_response(result: SearchResult) -> search_pb2.SearchPassagesResponse:
    """Returns the message of a result."""
    response = search_pb2.SearchPassagesResponse(
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
    # Several hits of one document are told of it in the same words.
    first_hits: dict[str, search_pb2.PassageHit] = {}
    for hit in result.hits:
        message = response.hits.add()
        first = first_hits.setdefault(hit.document.external_id, message)
        if first is message:
            write_document(message.document, hit.document)
            write_timestamp(message.update_time, hit.updated_at)
        else:
            message.document.CopyFrom(first.document)
            message.update_time.CopyFrom(first.update_time)
        _write_passage(message, hit)
    return response


def _write_passage(message: search_pb2.PassageHit, hit: PassageHit) -> None:
    """Writes into the message at its place, field by field.

    A message made apart would be copied there, parts and all, and keywords take longer to read than
    fields to set: of all that surrounds a search, this is what takes longest.
    """
    message.passage_id = str(hit.passage_id)
    write_passage(message.passage, hit.passage)
    message.fused_rank = hit.fused_rank
    message.fused_score = hit.fused_score
    for place in hit.places:
        rank = message.list_ranks.add()
        rank.list_index = place.list_index
        rank.rank = place.rank
        rank.contribution = place.contribution
    for score in hit.space_scores:
        _write_score(message.space_scores.add(), score)
    message.bm25_score = hit.bm25_score
    if hit.term_share is not None:
        message.term_share = hit.term_share
    for span in hit.highlights:
        message.highlights.add(start=span.start, end=span.end)


def score_message(score: SpaceScore) -> search_pb2.SpaceScore:
    """Returns the message of a similarity."""
    message = search_pb2.SpaceScore()
    _write_score(message, score)
    return message


def _write_score(message: search_pb2.SpaceScore, score: SpaceScore) -> None:
    message.space_id = score.space_id
    message.cosine = score.cosine
    if score.best_window_cosine is not None:
        message.best_window_cosine = score.best_window_cosine


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
