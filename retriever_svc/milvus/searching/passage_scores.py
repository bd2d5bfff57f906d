"""Scores passages against the original wording, whichever list found them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retriever_svc.milvus.searching.known_passages import KnownPassages
from retriever_svc.milvus.searching.near_vectors import inner_products
from retriever_svc.milvus.searching.prepared_query import PreparedQuery
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.searching.term_scores import TermHits, TermScores
from retriever_svc.milvus.store.vector_rows import HeldVector, held_vectors
from retriever_svc.searches import SpaceScore
from retriever_svc.searching.candidate_scores import CandidateScores, TermShares
from retriever_svc.store.rows import SpaceRow
from retriever_svc.store.stored_vectors import decoded


def score_passages(
    view: SearchView,
    query: PreparedQuery,
    known: KnownPassages,
    passage_ids: Sequence[int],
    term_hits: TermHits,
    term_shares: TermShares,
) -> list[CandidateScores]:
    """Returns the scores of each passage, all of which are known.

    `term_hits`: what was found of the original wording already.
    """
    original = query.original
    bm25 = dict(term_hits.known)
    if not term_hits.complete:
        unknown = [one for one in passage_ids if one not in bm25]
        bm25 |= TermScores(view).of(original.terms, unknown)
    spaces = _space_scores(view, query, passage_ids)
    scored = []
    for passage_id in passage_ids:
        share = None
        if term_shares is TermShares.ALL or (
            term_shares is TermShares.WITHOUT_COSINE and not spaces[passage_id]
        ):
            share = known.term_share(passage_id, dict(original.terms))
        scored.append(CandidateScores(spaces[passage_id], bm25.get(passage_id, 0.0), share))
    return scored


def _space_scores(
    view: SearchView, query: PreparedQuery, passage_ids: Sequence[int]
) -> dict[int, tuple[SpaceScore, ...]]:
    spaces = [one for one in view.row.spaces if one.space_id in query.original.vectors]
    held = held_vectors(view.store, [one.key for one in spaces], passage_ids, windows=True)
    rows = {(row.passage_id, row.space_key): row for row in held}
    return {
        passage_id: tuple(
            _space_score(space, query.original.vectors[space.space_id], row)
            for space in spaces
            if (row := rows.get((passage_id, space.key))) is not None
        )
        for passage_id in passage_ids
    }


def _space_score(space: SpaceRow, query: npt.NDArray[np.float32], row: HeldVector) -> SpaceScore:
    cosine = float(inner_products(decoded(row.vector, space.dimension), query)[0])
    best = None
    if row.windows:
        best = float(inner_products(decoded(row.windows, space.dimension), query).max())
    return SpaceScore(space.space_id, cosine, best)
