"""Makes the lists of a search: one for each wording and space, one BM25 list for each wording."""

from collections.abc import Collection

import numpy as np

from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.searching.prepared_query import PreparedQuery, PreparedVariant
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.fusion import Ranking
from retriever_svc.searches import SearchMode, SearchRequest
from retriever_svc.searching.made_lists import MadeLists

# So few passages are scored one by one instead of being sought among all.
_FEW_PASSAGES = 256


def make_lists(
    view: WorkspaceView,
    request: SearchRequest,
    query: PreparedQuery,
    subset: Subset | None,
    *,
    exact: bool = False,
) -> MadeLists:
    """Makes all lists that the mode asks for; a list of weight 0 is not made.

    With a subset, every list holds passages of it alone. `exact`: no list is approximate.
    """
    made = MadeLists()
    mode = SearchMode.LEXICAL if query.spaces_outdated else request.mode
    for variant_index, variant in enumerate(query.variants):
        if mode is not SearchMode.LEXICAL and variant.dense_weight > 0:
            _add_dense_lists(made, view, request, query, subset, variant_index, exact=exact)
        if variant.lexical_weight * query.fusion.lexical_weight > 0:
            _add_lexical_list(made, view, request, query, subset, variant_index)
    return made


def _add_dense_lists(
    made: MadeLists,
    view: WorkspaceView,
    request: SearchRequest,
    query: PreparedQuery,
    subset: Subset | None,
    variant_index: int,
    *,
    exact: bool,
) -> None:
    variant = query.variants[variant_index]
    total = view.row.passage_count if subset is None else len(subset)
    for space_id, vector in variant.vectors.items():
        weight = variant.dense_weight * query.fusion.weight_of(space_id)
        if not weight:
            continue
        index = view.indexes[space_id]
        if subset is None:
            hits, held = index.search(vector, request.candidate_count, exact=exact), len(index)
        else:
            hits = index.search_among(subset, vector, request.candidate_count, exact=exact)
            held = index.count_among(subset)
        if variant_index == 0:
            made.original_cosines[space_id] = dict(zip(hits.ids, hits.cosines, strict=True))
        ranking = Ranking(hits.ids, weight=weight, rank_scale=total / held if held else 1.0)
        made.add(variant_index, space_id, ranking, exact=hits.exact)


def _add_lexical_list(
    made: MadeLists,
    view: WorkspaceView,
    request: SearchRequest,
    query: PreparedQuery,
    subset: Subset | None,
    variant_index: int,
) -> None:
    variant = query.variants[variant_index]
    scale = 1.0
    if request.mode is not SearchMode.DENSE or not query.queried_spaces:
        hits = _lexical_hits(view, variant, subset, request.candidate_count)
        if variant_index == 0:
            made.original_bm25 = hits
    elif subset is None:
        reach = _Unreached(view, query.queried_spaces)
        if not reach.count:
            return
        scale = view.row.passage_count / reach.count
        hits = reach.search(variant, request.candidate_count)
    else:
        rest = _unreached_among(view, query.queried_spaces, subset)
        if not len(rest):
            return
        scale = len(subset) / len(rest)
        hits = _lexical_hits(view, variant, rest, request.candidate_count)
    weight = variant.lexical_weight * query.fusion.lexical_weight
    made.add(variant_index, "", Ranking(list(hits), weight=weight, rank_scale=scale))


def _lexical_hits(
    view: WorkspaceView, variant: PreparedVariant, subset: Subset | None, count: int
) -> dict[int, float]:
    if subset is None:
        return view.lexical.search(variant.terms, count)
    if len(subset) <= _FEW_PASSAGES:
        return _scored_one_by_one(view, variant, subset.ids.tolist(), count)
    return view.lexical.search_where(variant.terms, count, subset.contains)


def _scored_one_by_one(
    view: WorkspaceView, variant: PreparedVariant, passage_ids: Collection[int], count: int
) -> dict[int, float]:
    scores = view.lexical.scores(variant.terms, passage_ids)
    return dict(list(scores.items())[:count])


def _unreached_among(view: WorkspaceView, space_ids: list[str], subset: Subset) -> Subset:
    """The passages of the subset that no queried space holds."""
    if len(space_ids) == len(view.indexes):
        awaiting = np.array(sorted(view.awaiting), np.int64)
        return Subset(awaiting[subset.contains(awaiting)])
    return Subset(subset.ids[~view.contains(space_ids, subset.ids)])


class _Unreached:
    """The passages that no queried space holds: a dense search leaves them to BM25."""

    def __init__(self, view: WorkspaceView, space_ids: list[str]) -> None:
        self._view = view
        self._space_ids = space_ids
        self._all_queried = len(space_ids) == len(view.indexes)
        if self._all_queried:
            self.count = len(view.awaiting)
        else:
            largest = max(len(view.indexes[space_id]) for space_id in space_ids)
            self.count = view.row.passage_count - largest

    def search(self, variant: PreparedVariant, count: int) -> dict[int, float]:
        if self._all_queried and self.count <= _FEW_PASSAGES:
            return _scored_one_by_one(self._view, variant, self._view.awaiting, count)
        return self._view.lexical.search_where(
            variant.terms,
            count,
            lambda ids: np.logical_not(self._view.contains(self._space_ids, ids)),
        )
