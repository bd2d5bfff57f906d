"""Scores every fused candidate against the original wording, whichever list found it."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

import numpy as np

from retriever_svc.embedded.dense.inner_products import inner_products
from retriever_svc.embedded.dense.segment_rows import QueryVector
from retriever_svc.embedded.searching.prepared_query import PreparedQuery
from retriever_svc.embedded.store.vector_rows import windows_of_passages
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.searches import SpaceScore
from retriever_svc.searching.candidate_scores import CandidateScores, TermShares
from retriever_svc.searching.made_lists import MadeLists
from retriever_svc.store.rows import SpaceRow


def score_candidates(
    view: WorkspaceView,
    connection: sqlite3.Connection,
    query: PreparedQuery,
    passage_ids: Sequence[int],
    made: MadeLists,
    term_shares: TermShares = TermShares.NONE,
) -> list[CandidateScores]:
    """Returns the scores of each passage; those that the lists brought are not computed again."""
    unknown = [id_ for id_ in passage_ids if id_ not in made.original_bm25]
    bm25 = {**made.original_bm25, **view.lexical.scores(query.original.terms, unknown)}
    by_space = [
        _space_scores(
            view,
            connection,
            space,
            vector,
            passage_ids,
            made.original_cosines.get(space.space_id, {}),
        )
        for space in view.row.spaces
        if (vector := query.original.vectors.get(space.space_id)) is not None
    ]
    by_passage: Iterable[tuple[SpaceScore | None, ...]] = (
        zip(*by_space, strict=True) if by_space else repeat((), len(passage_ids))
    )
    space_scores = [
        tuple([score for score in scores if score is not None]) for scores in by_passage
    ]
    shares: dict[int, float] = {}
    if term_shares is not TermShares.NONE:
        everyone = term_shares is TermShares.ALL
        asked = [
            passage_id
            for passage_id, scores in zip(passage_ids, space_scores, strict=True)
            if everyone or not scores
        ]
        shares = view.lexical.term_shares(query.original.terms, asked)
    return [
        CandidateScores(scores, bm25.get(passage_id, 0.0), shares.get(passage_id))
        for passage_id, scores in zip(passage_ids, space_scores, strict=True)
    ]


def _space_scores(
    view: WorkspaceView,
    connection: sqlite3.Connection,
    space: SpaceRow,
    vector: QueryVector,
    passage_ids: Sequence[int],
    known: Mapping[int, float],
) -> list[SpaceScore | None]:
    unknown = [id_ for id_ in passage_ids if id_ not in known]
    if unknown:
        computed = view.indexes[space.space_id].cosines(np.array(unknown, np.int64), vector)
        known = {**known, **dict(zip(unknown, computed.tolist(), strict=True))}
    best: dict[int, float] = {}
    if space.windowed:
        best = {
            passage_id: float(inner_products(windows, vector).max())
            for passage_id, windows in windows_of_passages(
                connection, view.row.id, space.key, space.dimension, passage_ids
            )
        }
    return [
        # NaN, the only value that differs from itself, stands for no vector.
        SpaceScore(space.space_id, cosine, best.get(passage_id))
        if (cosine := known[passage_id]) == cosine
        else None
        for passage_id in passage_ids
    ]
