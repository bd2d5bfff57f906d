"""Explains a search: the same steps once more, with nothing cut, around the expected passages."""

import sqlite3

import numpy as np

from chassis.errors import NotFound
from retriever_svc.embedded.searching.candidate_scores import TermShares, score_candidates
from retriever_svc.embedded.searching.hit_selection import JudgedHit, selected
from retriever_svc.embedded.searching.list_standings import standings_of, with_contributions
from retriever_svc.embedded.searching.passage_search import hits_of, subset_of
from retriever_svc.embedded.searching.prepared_query import PreparedQuery, prepare
from retriever_svc.embedded.searching.ranked_lists import MadeLists, make_lists
from retriever_svc.embedded.store.document_rows import DocumentRow, find_document, read_documents
from retriever_svc.embedded.store.passage_rows import (
    PassageRow,
    passages_of_document,
    read_passages,
)
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.explanations import (
    Explanation,
    ExplanationRequest,
    MatchedTerm,
    PassageExplanation,
    PassageOutcome,
)
from retriever_svc.filter_misses import miss_in_words
from retriever_svc.fusion import fuse
from retriever_svc.searches import SearchRequest


def explain_passages(
    view: WorkspaceView, connection: sqlite3.Connection, request: ExplanationRequest
) -> Explanation:
    """Explains the search for the expected passages. Raises NotFound and InvalidArgument."""
    query = prepare(view, request.search)
    document, passages = _expected(view, connection, request)
    explainer = _Explainer(view, connection, request.search, query)
    explained = explainer.explain(document, passages)
    explained.sort(key=lambda one: (one.fused_rank is None, one.fused_rank or one.chunk_index))
    return Explanation(tuple(explained), view.row.seq)


def _expected(
    view: WorkspaceView, connection: sqlite3.Connection, request: ExplanationRequest
) -> tuple[DocumentRow, list[PassageRow]]:
    if request.external_id is not None:
        document = find_document(connection, view.row.id, request.external_id)
        if document is None:
            raise NotFound(
                f"no document {request.external_id!r} in workspace {view.row.slug!r}",
                reason="DOCUMENT_NOT_FOUND",
            )
        return document, passages_of_document(connection, view.row.id, document.id)
    passage_id = request.passage_id
    passages = (
        []
        if passage_id is None
        else list(read_passages(connection, view.row.id, [passage_id]).values())
    )
    if not passages:
        raise NotFound(
            f"no passage {passage_id} in workspace {view.row.slug!r}", reason="PASSAGE_NOT_FOUND"
        )
    document_id = passages[0].document_id
    return read_documents(connection, view.row.id, [document_id])[document_id], passages


class _Explainer:
    def __init__(
        self,
        view: WorkspaceView,
        connection: sqlite3.Connection,
        request: SearchRequest,
        query: PreparedQuery,
    ) -> None:
        self._view = view
        self._connection = connection
        self._request = request
        self._query = query
        self._subset = subset_of(view, connection, request)
        self._made = make_lists(view, request, query, self._subset)
        fused = fuse(self._made.rankings, rank_constant=query.fusion.rank_constant)
        self._fused = {candidate.passage_id: candidate for candidate in fused}
        scores = score_candidates(
            view,
            connection,
            query,
            list(self._fused),
            self._made,
            TermShares.judged_by(request.thresholds),
        )
        selection = selected(hits_of(view, connection, fused, scores), request)
        self._judged = {judged.hit.passage_id: judged for judged in selection.judged}

    def explain(
        self, document: DocumentRow, passages: list[PassageRow]
    ) -> list[PassageExplanation]:
        ids = [passage.id for passage in passages]
        scores = score_candidates(
            self._view, self._connection, self._query, ids, MadeLists(), TermShares.ALL
        )
        subset = self._subset
        # A filter is about documents, so it keeps out all of these passages or none.
        kept_out = subset is not None and not subset.contains(np.array(ids, np.int64)).all()
        standings = standings_of(
            self._view, self._request, self._query, None if kept_out else subset, ids
        )
        terms = self._term_weights(ids)
        explained = []
        for passage, scored in zip(passages, scores, strict=True):
            judged = self._judged.get(passage.id)
            outcome = PassageOutcome.IN_NO_LIST if judged is None else judged.outcome
            if kept_out:
                outcome = PassageOutcome.FILTERED_OUT
            candidate = self._fused.get(passage.id)
            explained.append(
                PassageExplanation(
                    passage_id=passage.id,
                    external_id=document.document.external_id,
                    chunk_index=passage.passage.chunk_index,
                    heading_path=passage.passage.heading_path,
                    location=passage.passage.location,
                    outcome=outcome,
                    detail=self._detail(outcome, judged, document),
                    fused_rank=None if judged is None else judged.hit.fused_rank,
                    fused_score=None if candidate is None else candidate.score,
                    standings=with_contributions(standings[passage.id], self._made, candidate),
                    matched_terms=terms[passage.id],
                    space_scores=scored.space_scores,
                    bm25_score=scored.bm25_score,
                    term_share=scored.term_share,
                    threshold_index=(
                        judged.miss.threshold_index if judged and judged.miss else None
                    ),
                )
            )
        return explained

    def _term_weights(self, ids: list[int]) -> dict[int, tuple[MatchedTerm, ...]]:
        weights: dict[int, list[MatchedTerm]] = {passage_id: [] for passage_id in ids}
        for term, query in self._query.original.terms.by_term().items():
            for passage_id, weight in self._view.lexical.scores(query, ids).items():
                weights[passage_id].append(MatchedTerm(term, weight))
        return {
            passage_id: tuple(sorted(matched, key=lambda one: (-one.weight, one.term)))
            for passage_id, matched in weights.items()
        }

    def _detail(
        self,
        outcome: PassageOutcome,
        judged: JudgedHit | None,
        document: DocumentRow,
    ) -> str:
        request = self._request
        match outcome:
            case PassageOutcome.RETURNED:
                assert judged is not None
                return f"returned; place {judged.hit.fused_rank} after fusion"
            case PassageOutcome.FILTERED_OUT:
                assert request.filter is not None
                return f"the filter {miss_in_words(document.document, request.filter)}"
            case PassageOutcome.IN_NO_LIST:
                return f"no list holds it among its first {request.candidate_count}"
            case PassageOutcome.OVER_DOCUMENT_BOUND:
                return (
                    f"{request.passages_per_document} better passages of its document are returned"
                )
            case PassageOutcome.OVER_LIMIT:
                unit = "documents" if request.group_by_document else "passages"
                return f"{request.limit} better {unit} are returned"
            case PassageOutcome.BEFORE_OFFSET:
                return f"stands on an earlier page: the offset is {request.offset}"
            case PassageOutcome.UNDER_THRESHOLD:
                assert judged is not None
                assert judged.miss is not None
                return f"thresholds[{judged.miss.threshold_index}]: {judged.miss.in_words}"
