"""Rows of a segment: ids, unit vectors, and which of them are live.

A row never changes and never comes back: it is live until its passage loses the vector or gets
another one. An id has at most one live row in all segments of an index together, its newest.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.decoded_vectors import VectorRows

Flags: TypeAlias = npt.NDArray[np.bool_]
QueryVector: TypeAlias = npt.NDArray[np.float32]


class SegmentRows:
    """A fixed number of rows, found by id through binary search."""

    def __init__(self, ids: IntVector, vectors: VectorRows, alive: Flags | None = None) -> None:
        """Takes ids [n], vectors [n, dimension] and flags [n], all live if None, as its own."""
        self.ids = ids
        self.vectors = vectors
        self.alive = np.ones(len(ids), np.bool_) if alive is None else alive
        self.live_count = int(self.alive.sum())
        # Stable: of equal ids the newest row comes last.
        self._order = np.argsort(ids, kind="stable")
        self._sorted_ids = ids[self._order]

    @property
    def lossy(self) -> bool:
        """Whether `vectors` gives approximations."""
        return False

    @property
    def row_count(self) -> int:
        """Rows, dead ones included."""
        return len(self.ids)

    @property
    def dead_share(self) -> float:
        """Share of the rows that are dead."""
        return 1 - self.live_count / self.row_count if self.row_count else 0.0

    def locate(self, ids: IntVector) -> IntVector:
        """Returns the live row of each id, -1 where there is none."""
        if not self.row_count:
            return np.full(len(ids), -1, np.int64)
        # An id below all others comes to the last row, which has another one.
        rows = self._order[np.searchsorted(self._sorted_ids, ids, side="right") - 1]
        return np.where((self.ids[rows] == ids) & self.alive[rows], rows, -1)

    def kill(self, rows: IntVector) -> None:
        """Marks live rows as dead; each row is named once."""
        self.alive[rows] = False
        self.live_count -= len(rows)

    def nearest(self, query: QueryVector, count: int) -> IntVector:
        """Returns the `count` live rows, or all, with the largest inner product, in any order."""
        return exact_nearest(self.vectors, self._dead_rows(), query, count)

    def _dead_rows(self) -> Flags | None:
        return None if self.live_count == self.row_count else ~self.alive


def exact_nearest(
    vectors: VectorRows, dead: Flags | None, query: QueryVector, count: int
) -> IntVector:
    """Returns the `count` rows of largest inner product among those not dead, in any order."""
    scores = vectors @ query
    if dead is not None:
        scores[dead] = -np.inf
    if count < len(scores):
        rows = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    else:
        rows = np.arange(len(scores))
    best: IntVector = rows if dead is None else rows[scores[rows] > -np.inf]
    return best
