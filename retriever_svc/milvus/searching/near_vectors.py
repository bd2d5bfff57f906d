"""Passages of a space by their nearness to a query vector, and cosines of any passages."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix
from retriever_svc.milvus.clients.milvus_connection import MOST_HITS
from retriever_svc.milvus.collections.collection_shape import VECTOR_FIELD
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.store.vector_rows import held_vectors
from retriever_svc.store.rows import SpaceRow
from retriever_svc.store.stored_vectors import decoded

EXACT_ROWS = 2_000
"""A part of so many passages is searched in the store's own vectors: graphs lose hits there."""

# Fetched beyond what is asked, so that equal scores at the end are ordered by id.
_MARGIN = 8
_LARGEST_BREADTH = 32_768


@dataclass(frozen=True, slots=True)
class NearHits:
    """Holds the nearest passages with their cosines: nearest first, ties by id."""

    best: Mapping[int, float] = field(default_factory=dict)
    exact: bool = True


class NearVectors:
    """Searches the spaces of one view."""

    def __init__(self, view: SearchView) -> None:
        self._view = view

    def count(self, space: SpaceRow, condition: str) -> int:
        """Counts the passages of a space that fulfil the condition; all if it is empty."""
        if not condition:
            return space.passage_count
        return self._view.milvus.count(self._view.vectors_name(space), condition)

    def best(
        self,
        space: SpaceRow,
        query: npt.NDArray[np.float32],
        count: int,
        condition: str,
        held: int,
    ) -> NearHits:
        """Returns the nearest `count` of the `held` passages that fulfil the condition."""
        view, name = self._view, self._view.vectors_name(space)
        if condition and held <= EXACT_ROWS:
            ids = view.milvus.ids(name, condition, limit=MOST_HITS)
            return NearHits(_ordered(self.cosines(space, query, ids), count))
        fetched = min(MOST_HITS, count + _MARGIN)
        breadth = max(view.settings.search_breadth, fetched)
        found = self._search(name, query, fetched, condition, breadth)
        if len(found) < min(count, held):
            # A graph that is cut by a condition may end before there are enough.
            found = self._search(name, query, fetched, condition, _LARGEST_BREADTH)
        return NearHits(_ordered(found, count), exact=view.exact)

    def _search(
        self,
        name: str,
        query: npt.NDArray[np.float32],
        fetched: int,
        condition: str,
        breadth: int,
    ) -> dict[int, float]:
        params = {} if self._view.exact else {"ef": breadth}
        return self._view.milvus.search(
            name,
            VECTOR_FIELD,
            query,
            limit=fetched,
            condition=condition,
            params={"metric_type": "IP", "params": params},
        )

    def cosines(
        self, space: SpaceRow, query: npt.NDArray[np.float32], passage_ids: Collection[int]
    ) -> dict[int, float]:
        """Returns the cosines of those passages that have a vector in the space."""
        with self._view.reading:
            rows = list(held_vectors(self._view.store, [space.key], passage_ids))
        if not rows:
            return {}
        vectors = decoded(b"".join(row.vector for row in rows), space.dimension)
        products = inner_products(vectors, query).tolist()
        return dict(zip((row.passage_id for row in rows), products, strict=True))


def inner_products(vectors: FloatMatrix, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Multiplies every row with the query, each by the same steps whatever lies beside it."""
    products: npt.NDArray[np.float64] = np.einsum(
        "ij,j->i", vectors.astype(np.float64), query.astype(np.float64)
    )
    return products


def _ordered(scores: Mapping[int, float], count: int) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:count])
