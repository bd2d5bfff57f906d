"""Explains a search: the same steps once more, with nothing cut, around the expected passages.

"Nothing cut" ends at 16,384 places, the most that Milvus returns: a passage that a list holds
beyond them has no standing there.
"""

from collections.abc import Sequence

from chassis.errors import NotFound
from retriever_svc.explanations import (
    Explanation,
    ExplanationRequest,
    ListStanding,
    MatchedTerm,
)
from retriever_svc.filters import fulfils
from retriever_svc.fusion import fuse
from retriever_svc.milvus.clients.milvus_connection import MOST_HITS
from retriever_svc.milvus.collections.condition_texts import condition_text
from retriever_svc.milvus.searching.known_passages import KnownPassages
from retriever_svc.milvus.searching.passage_scores import score_passages
from retriever_svc.milvus.searching.passage_search import find_candidates, hits_of
from retriever_svc.milvus.searching.prepared_query import PreparedQuery
from retriever_svc.milvus.searching.search_lists import ListMaker
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.searching.term_scores import TermHits, TermScores
from retriever_svc.milvus.store.document_rows import find_document, read_documents
from retriever_svc.milvus.store.passage_rows import passages_of_document, read_passages
from retriever_svc.searches import SearchRequest
from retriever_svc.searching.candidate_scores import TermShares
from retriever_svc.searching.explained_passages import (
    PassageFacts,
    SearchOutcome,
    explained_passages,
)
from retriever_svc.searching.hit_selection import selected
from retriever_svc.store.rows import DocumentRow, PassageRow


def explain_search(view: SearchView, request: ExplanationRequest) -> Explanation:
    """Explains the search for the expected passages. Raises NotFound and InvalidArgument."""
    search = request.search
    candidates = find_candidates(view, search)
    document, rows = _expected(view, request)
    made = candidates.found.made()
    fused = fuse(made.rankings, rank_constant=candidates.query.fusion.rank_constant)
    selection = selected(hits_of(view, search, candidates, fused), search)
    outcome = SearchOutcome(
        made,
        {candidate.passage_id: candidate for candidate in fused},
        {judged.hit.passage_id: judged for judged in selection.judged},
    )
    kept_out = search.filter is not None and not fulfils(document.document, search.filter)
    return Explanation(
        explained_passages(
            search,
            outcome,
            document.document,
            _facts(view, search, candidates.query, rows, kept_out=kept_out),
            kept_out=kept_out,
        ),
        view.row.seq,
    )


def _expected(
    view: SearchView, request: ExplanationRequest
) -> tuple[DocumentRow, list[PassageRow]]:
    store, workspace = view.store, view.row
    if request.external_id is not None:
        document = find_document(store, workspace.id, request.external_id)
        if document is None:
            raise NotFound(
                f"no document {request.external_id!r} in workspace {workspace.slug!r}",
                reason="DOCUMENT_NOT_FOUND",
            )
        return document, passages_of_document(store, workspace.id, document.id)
    passage_id = request.passage_id
    ids = [] if passage_id is None else [passage_id]
    rows = list(read_passages(store, workspace.id, ids).values())
    if not rows:
        raise NotFound(
            f"no passage {passage_id} in workspace {workspace.slug!r}", reason="PASSAGE_NOT_FOUND"
        )
    document_id = rows[0].document_id
    return read_documents(store, workspace.id, [document_id])[document_id], rows


def _facts(
    view: SearchView,
    search: SearchRequest,
    query: PreparedQuery,
    rows: Sequence[PassageRow],
    *,
    kept_out: bool,
) -> list[PassageFacts]:
    known = KnownPassages(view)
    known.add(rows)
    ids = [row.id for row in rows]
    everywhere = TermScores(view).best(query.original.terms, MOST_HITS)
    scores = score_passages(view, query, known, ids, everywhere, TermShares.ALL)
    standings = _standings(view, search, query, ids, kept_out=kept_out)
    terms = _matched_terms(view, query, ids)
    return [
        PassageFacts(row, scored, standings[row.id], terms[row.id])
        for row, scored in zip(rows, scores, strict=True)
    ]


def _standings(
    view: SearchView,
    search: SearchRequest,
    query: PreparedQuery,
    passage_ids: Sequence[int],
    *,
    kept_out: bool,
) -> dict[int, list[ListStanding]]:
    condition = "" if kept_out or search.filter is None else condition_text(search.filter)
    uncut = ListMaker(view, query, search.mode, condition, MOST_HITS).make()
    standings: dict[int, list[ListStanding]] = {passage_id: [] for passage_id in passage_ids}
    for found in uncut.lists:
        for rank, (passage_id, score) in enumerate(found.scores.items(), start=1):
            if passage_id in standings:
                standings[passage_id].append(
                    ListStanding(
                        found.variant_index,
                        found.space_id,
                        rank,
                        effective_rank=rank * found.rank_scale,
                        score=score,
                        contribution=0.0,
                    )
                )
    return standings


def _matched_terms(
    view: SearchView, query: PreparedQuery, passage_ids: Sequence[int]
) -> dict[int, list[MatchedTerm]]:
    matched: dict[int, list[MatchedTerm]] = {passage_id: [] for passage_id in passage_ids}
    scores = TermScores(view)
    original = query.original.terms
    for term in dict.fromkeys(one for terms in original.values() for one in terms):
        alone = {language: [term] for language, terms in original.items() if term in terms}
        hits = scores.best(alone, MOST_HITS)
        weights = hits.known if hits.complete else _all_of(hits, scores, alone, passage_ids)
        for passage_id in passage_ids:
            if weights.get(passage_id):
                matched[passage_id].append(MatchedTerm(term, weights[passage_id]))
    return matched


def _all_of(
    hits: TermHits,
    scores: TermScores,
    terms: dict[str, list[str]],
    passage_ids: Sequence[int],
) -> dict[int, float]:
    unknown = [one for one in passage_ids if one not in hits.known]
    return {**hits.known, **scores.of(terms, unknown)}
