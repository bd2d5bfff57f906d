"""One search from request to hits: lists, fusion, scores, selection, texts."""

import sqlite3
import time
from collections.abc import Iterator, Sequence

from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.searching.candidate_scores import CandidateScores, score_candidates
from retriever_svc.embedded.searching.hit_selection import select_hits
from retriever_svc.embedded.searching.prepared_query import prepare
from retriever_svc.embedded.searching.ranked_lists import make_lists
from retriever_svc.embedded.store.passage_rows import read_passages
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.fusion import FusedCandidate, fuse
from retriever_svc.searches import PassageHit, SearchRequest, SearchResult


def search_passages(
    view: WorkspaceView, connection: sqlite3.Connection, request: SearchRequest, started: float
) -> SearchResult:
    """Returns the hits of a search over this view; `connection` reads the same state.

    `started` is the `time.perf_counter()` the latency counts from. Raises InvalidArgument.
    """
    query = prepare(view, request)
    made = make_lists(view, request, query, subset_of(view, connection, request))
    # Where nothing further down can move up, its scores and texts are not needed.
    cut = not (request.thresholds or request.passages_per_document)
    fused = fuse(
        made.rankings,
        rank_constant=query.fusion.rank_constant,
        limit=request.limit if cut else None,
    )
    scores = score_candidates(
        view,
        connection,
        query,
        [candidate.passage_id for candidate in fused],
        made.original_bm25,
    )
    found = hits_of(view, connection, fused, scores)
    hits = [hit for hit, _ in found] if cut else select_hits(found, request)
    return SearchResult(
        hits=tuple(hits),
        lists=tuple(made.descriptions),
        fusion=query.fusion,
        spaces=view.spaces(),
        spaces_version=view.row.spaces_version,
        spaces_outdated=query.spaces_outdated,
        applied_seq=view.row.seq,
        latency_ms=(time.perf_counter() - started) * 1000,
    )


def subset_of(
    view: WorkspaceView, connection: sqlite3.Connection, request: SearchRequest
) -> Subset | None:
    """Returns the passages that the filter of the request lets through; None for all."""
    if request.filter is None:
        return None
    return view.subsets.of(connection, view.row.seq, request.filter)


def hits_of(
    view: WorkspaceView,
    connection: sqlite3.Connection,
    fused: Sequence[FusedCandidate],
    scores: Sequence[CandidateScores],
) -> Iterator[tuple[PassageHit, CandidateScores]]:
    """Yields the candidates with their texts and scores, in fused order."""
    passages = read_passages(connection, view.row.id, [candidate.passage_id for candidate in fused])
    documents = view.documents.of(
        connection, view.row.seq, {passage.document_id for passage in passages.values()}
    )
    for rank, (candidate, scored) in enumerate(zip(fused, scores, strict=True), start=1):
        passage = passages.get(candidate.passage_id)
        if passage is None:
            # The reader is ahead of an index that could not take in the last change.
            continue
        document = documents[passage.document_id]
        hit = PassageHit(
            candidate.passage_id,
            passage.passage,
            document.document,
            document.updated_at,
            rank,
            candidate.score,
            candidate.places,
            scored.space_scores,
            scored.bm25_score,
        )
        yield hit, scored
