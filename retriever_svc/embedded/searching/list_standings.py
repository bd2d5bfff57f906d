"""Where the lists of a search hold the expected passages, if nothing is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.searching.prepared_query import PreparedQuery
from retriever_svc.embedded.searching.ranked_lists import make_lists
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.explanations import ListStanding
from retriever_svc.fusion import Ranking
from retriever_svc.searches import RankedList, SearchRequest


def standings_of(
    view: WorkspaceView,
    request: SearchRequest,
    query: PreparedQuery,
    subset: Subset | None,
    passage_ids: Sequence[int],
) -> dict[int, list[ListStanding]]:
    """Returns by passage where each list holds it, in the order of the lists.

    The lists are whole and exact; contributions are 0.
    """
    uncut = make_lists(
        view,
        replace(request, candidate_count=max(1, view.row.passage_count)),
        query,
        subset,
        exact=True,
    )
    standings: dict[int, list[ListStanding]] = {passage_id: [] for passage_id in passage_ids}
    for described, ranking in zip(uncut.descriptions, uncut.rankings, strict=True):
        scores = _scores(view, query, described, passage_ids)
        for passage_id, rank in _ranks(ranking, standings).items():
            standings[passage_id].append(
                ListStanding(
                    described.variant_index,
                    described.space_id,
                    rank,
                    effective_rank=rank * ranking.rank_scale,
                    score=scores[passage_id],
                    contribution=0.0,
                )
            )
    return standings


def _ranks(ranking: Ranking, wanted: Mapping[int, object]) -> dict[int, int]:
    return {
        passage_id: rank
        for rank, passage_id in enumerate(ranking.ids, start=1)
        if passage_id in wanted
    }


def _scores(
    view: WorkspaceView, query: PreparedQuery, described: RankedList, passage_ids: Sequence[int]
) -> dict[int, float]:
    variant = query.variants[described.variant_index]
    if not described.space_id:
        return view.lexical.scores(variant.terms, passage_ids)
    cosines = view.indexes[described.space_id].cosines(
        np.array(passage_ids, np.int64), variant.vectors[described.space_id]
    )
    return dict(zip(passage_ids, cosines.tolist(), strict=True))
