"""Makes the lists of a search: one for each wording and space, one BM25 list for each wording."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from retriever_svc.fusion import Ranking
from retriever_svc.milvus.collections.condition_fields import in_space
from retriever_svc.milvus.collections.condition_texts import all_of, none_of_facets
from retriever_svc.milvus.searching.near_vectors import NearVectors
from retriever_svc.milvus.searching.prepared_query import PreparedQuery, PreparedVariant
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.searching.term_scores import TermHits, TermScores
from retriever_svc.searches import SearchMode
from retriever_svc.searching.made_lists import MadeLists
from retriever_svc.store.rows import SpaceRow


@dataclass(frozen=True, slots=True)
class FoundList:
    """Holds one list: its passages with what it is ordered by, best first."""

    variant_index: int
    space_id: str
    """Empty for BM25."""
    scores: Mapping[int, float]
    weight: float
    rank_scale: float = 1.0
    exact: bool = True

    def without(self, passage_ids: frozenset[int]) -> "FoundList":
        """Returns the list without these passages."""
        kept = {one: score for one, score in self.scores.items() if one not in passage_ids}
        return FoundList(
            self.variant_index, self.space_id, kept, self.weight, self.rank_scale, self.exact
        )


@dataclass(slots=True)
class FoundLists:
    """Holds the lists of a search."""

    lists: list[FoundList] = field(default_factory=list)
    original_terms: TermHits = field(default_factory=lambda: TermHits(complete=False))
    """What the list of the original wording came from, where that was sought among all."""

    def made(self) -> MadeLists:
        """Returns the lists as the fusion takes them."""
        made = MadeLists()
        for one in self.lists:
            ranking = Ranking(list(one.scores), weight=one.weight, rank_scale=one.rank_scale)
            made.add(one.variant_index, one.space_id, ranking, exact=one.exact)
        return made


class ListMaker:
    """Makes lists of at most `count` passages that fulfil a condition; empty means all."""

    def __init__(
        self, view: SearchView, query: PreparedQuery, mode: SearchMode, condition: str, count: int
    ) -> None:
        self._view = view
        self._query = query
        self._mode = SearchMode.LEXICAL if query.spaces_outdated else mode
        self._condition = condition
        self._count = count
        self._near = NearVectors(view)
        self._terms = TermScores(view)

    def make(self) -> FoundLists:
        """Makes all lists that the mode asks for; a list of weight 0 is not made."""
        making: list[Callable[[], tuple[FoundList, TermHits | None]]] = []
        for index, variant in enumerate(self._query.variants):
            if self._mode is not SearchMode.LEXICAL and variant.dense_weight > 0:
                making += self._dense_lists(index, variant)
            if variant.lexical_weight * self._query.fusion.lexical_weight > 0:
                making += self._lexical_lists(index, variant)
        found = FoundLists()
        for made, term_hits in self._view.side_by_side.lists(making):
            found.lists.append(made)
            if made.variant_index == 0 and term_hits is not None:
                found.original_terms = term_hits
        return found

    def _dense_lists(
        self, index: int, variant: PreparedVariant
    ) -> Iterator[Callable[[], tuple[FoundList, None]]]:
        for space_id, vector in variant.vectors.items():
            weight = variant.dense_weight * self._query.fusion.weight_of(space_id)
            space = self._view.row.space(space_id)
            if not weight or space is None:
                continue
            held = self._held[space_id]
            complete = space.passage_count == self._view.row.passage_count
            scale = 1.0 if complete or not held else self._total / held
            yield partial(self._dense_list, index, space, vector, held, weight, scale)

    def _dense_list(
        self,
        index: int,
        space: SpaceRow,
        vector: npt.NDArray[np.float32],
        held: int,
        weight: float,
        scale: float,
    ) -> tuple[FoundList, None]:
        hits = self._near.best(space, vector, self._count, self._condition, held)
        return FoundList(index, space.space_id, hits.best, weight, scale, hits.exact), None

    def _lexical_lists(
        self, index: int, variant: PreparedVariant
    ) -> Iterator[Callable[[], tuple[FoundList, TermHits | None]]]:
        weight = variant.lexical_weight * self._query.fusion.lexical_weight
        if self._mode is not SearchMode.DENSE or not self._query.queried_spaces:
            yield partial(self._lexical_list, index, variant, weight)
        elif self._unreached:
            scale = self._total / self._unreached
            yield partial(self._rest_list, index, variant, weight, scale)

    def _lexical_list(
        self, index: int, variant: PreparedVariant, weight: float
    ) -> tuple[FoundList, TermHits]:
        hits = self._terms.best(variant.terms, self._count, self._condition)
        return FoundList(index, "", hits.best, weight, exact=hits.exact), hits

    def _rest_list(
        self, index: int, variant: PreparedVariant, weight: float, scale: float
    ) -> tuple[FoundList, None]:
        hits = self._terms.best(variant.terms, self._count, self._unreached_text)
        return FoundList(index, "", hits.best, weight, scale, hits.exact), None

    @cached_property
    def _total(self) -> int:
        """The passages that fulfil the condition."""
        view = self._view
        if not self._condition:
            return view.row.passage_count
        return view.milvus.count(view.terms_name, self._condition)

    @cached_property
    def _held(self) -> dict[str, int]:
        """Those of them that each queried space holds."""
        return {space.space_id: self._near.count(space, self._condition) for space in self._queried}

    @cached_property
    def _unreached_text(self) -> str:
        """The condition that a queried space does not hold the passage, and the request's own."""
        keys = [space.key for space in self._queried]
        return all_of([self._condition, none_of_facets([in_space(key) for key in keys])])

    @cached_property
    def _unreached(self) -> int:
        """The passages that no queried space holds: a dense search leaves them to BM25."""
        view = self._view
        if any(space.passage_count == view.row.passage_count for space in self._queried):
            return 0
        return view.milvus.count(view.terms_name, self._unreached_text)

    @cached_property
    def _queried(self) -> list[SpaceRow]:
        spaces = [self._view.row.space(one) for one in self._query.queried_spaces]
        return [space for space in spaces if space is not None]
