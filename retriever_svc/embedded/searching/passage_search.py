"""One search from request to hits: lists, fusion, scores, selection, texts."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.searching.candidate_scores import score_candidates
from retriever_svc.embedded.searching.prepared_query import PreparedQuery, prepare
from retriever_svc.embedded.searching.ranked_lists import make_lists
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.fusion import FusedCandidate, count_candidates, fuse
from retriever_svc.lexical_terms import languages_of
from retriever_svc.searches import PassageHit, SearchRequest, SearchResult
from retriever_svc.searching.candidate_scores import CandidateScores, TermShares
from retriever_svc.searching.hit_selection import Selection, selected
from retriever_svc.searching.made_lists import MadeLists


class ListSampler(Protocol):
    """Looks at the lists of searches."""

    def note(
        self,
        view: WorkspaceView,
        query: PreparedQuery,
        made: MadeLists,
        subset: Subset | None,
        count: int,
    ) -> None:
        """Takes note of lists of `count` passages; must not take long."""
        ...


def search_passages(
    view: WorkspaceView,
    connection: sqlite3.Connection,
    request: SearchRequest,
    started: float,
    sampler: ListSampler | None = None,
) -> SearchResult:
    """Returns the hits of a search over this view; `connection` reads the same state.

    `started` is the `time.perf_counter()` the latency counts from. The lists are shown to the
    sampler. Raises InvalidArgument.
    """
    query = prepare(view, request)
    subset = subset_of(view, connection, request)
    made = make_lists(view, request, query, subset)
    if sampler is not None:
        sampler.note(view, query, made, subset, request.candidate_count)
    if _selective(request):
        fused, passed_over = fuse(made.rankings, rank_constant=query.fusion.rank_constant), 0
    else:
        # Nothing further down can move up, so its scores and texts are not needed.
        passed_over = request.offset
        last = None if request.limit is None else passed_over + request.limit
        fused = fuse(made.rankings, rank_constant=query.fusion.rank_constant, limit=last)
    window = fused[passed_over:]
    scores = score_candidates(
        view,
        connection,
        query,
        [candidate.passage_id for candidate in window],
        made,
        TermShares.judged_by(request.thresholds),
    )
    found = hits_of(view, connection, window, scores, first_rank=passed_over + 1)
    if _selective(request):
        selection = selected(found, request)
    else:
        selection = Selection(tuple([hit for hit, _ in found]), count_candidates(made.rankings))
    return SearchResult(
        hits=selection.hits,
        lists=tuple(made.descriptions),
        fusion=query.fusion,
        spaces=view.spaces(),
        spaces_version=view.row.spaces_version,
        spaces_outdated=query.spaces_outdated,
        applied_seq=view.row.seq,
        latency_ms=(time.perf_counter() - started) * 1000,
        languages=languages_of(view.row.settings.language),
        total_count=selection.total_count,
        window_cut=made.cut_at(request.candidate_count),
        drop_counts=selection.drop_counts,
    )


def _selective(request: SearchRequest) -> bool:
    """Whether more than its place in fused order decides about a candidate."""
    return bool(request.thresholds or request.passages_per_document or request.group_by_document)


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
    *,
    first_rank: int = 1,
) -> Iterator[tuple[PassageHit, CandidateScores]]:
    """Yields the candidates with their texts and scores, in fused order from `first_rank` on."""
    passages = view.passages.of(
        connection, view.row.id, [candidate.passage_id for candidate in fused]
    )
    documents = view.documents.of(
        connection, view.row.seq, {passage.document_id for passage in passages.values()}
    )
    for rank, (candidate, scored) in enumerate(zip(fused, scores, strict=True), first_rank):
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
            scored.term_share,
        )
        yield hit, scored
