"""Explains a search: the same steps once more, with nothing cut, around the expected passages."""

import sqlite3

import numpy as np

from chassis.errors import NotFound
from retriever_svc.embedded.searching.candidate_scores import score_candidates
from retriever_svc.embedded.searching.list_standings import standings_of
from retriever_svc.embedded.searching.passage_search import hits_of, subset_of
from retriever_svc.embedded.searching.prepared_query import PreparedQuery, prepare
from retriever_svc.embedded.searching.ranked_lists import make_lists
from retriever_svc.embedded.store.document_rows import find_document, read_documents
from retriever_svc.embedded.store.passage_rows import passages_of_document, read_passages
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.explanations import (
    Explanation,
    ExplanationRequest,
    MatchedTerm,
    PassageExplanation,
)
from retriever_svc.fusion import fuse
from retriever_svc.searches import SearchRequest
from retriever_svc.searching.candidate_scores import TermShares
from retriever_svc.searching.explained_passages import (
    PassageFacts,
    SearchOutcome,
    explained_passages,
)
from retriever_svc.searching.hit_selection import selected
from retriever_svc.searching.made_lists import MadeLists
from retriever_svc.store.rows import DocumentRow, PassageRow


def explain_search(
    view: WorkspaceView, connection: sqlite3.Connection, request: ExplanationRequest
) -> Explanation:
    """Explains the search for the expected passages. Raises NotFound and InvalidArgument."""
    query = prepare(view, request.search)
    document, passages = _expected(view, connection, request)
    explainer = _Explainer(view, connection, request.search, query)
    return Explanation(explainer.explain(document, passages), view.row.seq)


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
    ) -> tuple[PassageExplanation, ...]:
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
        return explained_passages(
            self._request,
            SearchOutcome(self._made, self._fused, self._judged),
            document.document,
            [
                PassageFacts(row, scored, standings[row.id], terms[row.id])
                for row, scored in zip(passages, scores, strict=True)
            ],
            kept_out=kept_out,
        )

    def _term_weights(self, ids: list[int]) -> dict[int, list[MatchedTerm]]:
        weights: dict[int, list[MatchedTerm]] = {passage_id: [] for passage_id in ids}
        for term, query in self._query.original.terms.by_term().items():
            for passage_id, weight in self._view.lexical.scores(query, ids).items():
                weights[passage_id].append(MatchedTerm(term, weight))
        return weights
