"""One search from request to hits: lists, fusion, scores, selection."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retriever_svc.fusion import FusedCandidate, count_candidates, fuse
from retriever_svc.milvus.collections.condition_texts import condition_text
from retriever_svc.milvus.searching.known_passages import KnownPassages
from retriever_svc.milvus.searching.passage_scores import score_passages
from retriever_svc.milvus.searching.prepared_query import PreparedQuery, prepare
from retriever_svc.milvus.searching.search_lists import FoundLists, ListMaker
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.searches import PassageHit, SearchRequest, SearchResult
from retriever_svc.searching.candidate_scores import CandidateScores, TermShares
from retriever_svc.searching.hit_selection import Selection, selected


@dataclass(frozen=True, slots=True)
class Candidates:
    """Holds what the lists of a search brought, and what is known of it."""

    query: PreparedQuery
    found: FoundLists
    known: KnownPassages


def find_candidates(view: SearchView, request: SearchRequest) -> Candidates:
    """Makes the lists of a search. Raises InvalidArgument."""
    query = prepare(view, request)
    condition = "" if request.filter is None else condition_text(request.filter)
    maker = ListMaker(view, query, request.mode, condition, request.candidate_count)
    found = maker.make()
    known = KnownPassages(view)
    ids = {passage_id for one in found.lists for passage_id in one.scores}
    unfit = known.unfit(ids, request.filter)
    if unfit:
        found.lists = [one.without(unfit) for one in found.lists]
    return Candidates(query, found, known)


def search_passages(view: SearchView, request: SearchRequest, started: float) -> SearchResult:
    """Returns the hits of a search. Raises InvalidArgument.

    `started` is the `time.perf_counter()` the latency counts from.
    """
    candidates = find_candidates(view, request)
    query, made = candidates.query, candidates.found.made()
    selective = bool(
        request.thresholds or request.passages_per_document or request.group_by_document
    )
    first = 0 if selective else request.offset
    # Unless more than its place decides, nothing further down can move up.
    last = None if selective or request.limit is None else first + request.limit
    fused = fuse(made.rankings, rank_constant=query.fusion.rank_constant, limit=last)[first:]
    hits = hits_of(view, request, candidates, fused, first_rank=first + 1)
    if selective:
        selection = selected(hits, request)
    else:
        selection = Selection(tuple(hit for hit, _ in hits), count_candidates(made.rankings))
    return SearchResult(
        hits=selection.hits,
        lists=tuple(made.descriptions),
        fusion=query.fusion,
        spaces=view.spaces(),
        spaces_version=view.row.spaces_version,
        spaces_outdated=query.spaces_outdated,
        applied_seq=view.row.seq,
        latency_ms=(time.perf_counter() - started) * 1000,
        languages=view.languages,
        total_count=selection.total_count,
        window_cut=made.cut_at(request.candidate_count),
        drop_counts=selection.drop_counts,
    )


def hits_of(
    view: SearchView,
    request: SearchRequest,
    candidates: Candidates,
    fused: Sequence[FusedCandidate],
    *,
    first_rank: int = 1,
) -> Iterator[tuple[PassageHit, CandidateScores]]:
    """Yields the candidates with their texts and scores, in fused order from `first_rank` on."""
    known = candidates.known
    scores = score_passages(
        view,
        candidates.query,
        known,
        [one.passage_id for one in fused],
        candidates.found.original_terms,
        TermShares.judged_by(request.thresholds),
    )
    for rank, (candidate, scored) in enumerate(zip(fused, scores, strict=True), first_rank):
        document = known.document(candidate.passage_id)
        hit = PassageHit(
            candidate.passage_id,
            known.passage(candidate.passage_id).passage,
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
