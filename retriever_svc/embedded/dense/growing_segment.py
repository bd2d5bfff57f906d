"""The segment that takes new vectors; searched exactly."""

import numpy as np

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.segment_rows import (
    Flags,
    QueryVector,
    SegmentRows,
    exact_nearest,
)

_FIRST_CAPACITY = 64


class GrowingSegment:
    """Rows in the order they came; dead ones are swept out from time to time."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._ids = np.empty(_FIRST_CAPACITY, np.int64)
        self._vectors = np.empty((_FIRST_CAPACITY, dimension), np.float32)
        self._alive = np.zeros(_FIRST_CAPACITY, np.bool_)
        self._row_by_id: dict[int, int] = {}
        self._row_count = 0

    @property
    def live_count(self) -> int:
        """Live rows."""
        return len(self._row_by_id)

    @property
    def vectors(self) -> FloatMatrix:
        """Vectors of all rows, [rows, dimension]."""
        return self._vectors[: self._row_count]

    @property
    def ids(self) -> IntVector:
        """Ids of all rows."""
        return self._ids[: self._row_count]

    @property
    def alive(self) -> Flags:
        """Says of all rows whether they are live."""
        return self._alive[: self._row_count]

    def add(self, ids: IntVector, vectors: FloatMatrix) -> None:
        """Adds rows; none of the ids, each named once, may have a live row."""
        first, last = self._row_count, self._row_count + len(ids)
        self._reserve(last)
        self._ids[first:last] = ids
        self._vectors[first:last] = vectors
        self._alive[first:last] = True
        self._row_by_id.update(zip(ids.tolist(), range(first, last), strict=True))
        self._row_count = last

    def locate(self, ids: IntVector) -> IntVector:
        """Returns the live row of each id, -1 where there is none."""
        found = self._row_by_id
        return np.fromiter((found.get(id_, -1) for id_ in ids.tolist()), np.int64, len(ids))

    def kill(self, rows: IntVector) -> None:
        """Marks live rows as dead, and sweeps when half of all rows are."""
        self._alive[rows] = False
        for id_ in self._ids[rows].tolist():
            del self._row_by_id[id_]
        if self.live_count * 2 < self._row_count:
            self._sweep()

    def nearest(self, query: QueryVector, count: int) -> IntVector:
        """Returns the `count` live rows, or all, with the largest inner product, in any order."""
        dead = None if self.live_count == self._row_count else ~self.alive
        return exact_nearest(self.vectors, dead, query, count)

    def frozen(self) -> SegmentRows:
        """Returns the live rows as a fixed segment; this one must not be used afterwards."""
        rows = np.flatnonzero(self._alive[: self._row_count])
        if len(rows) == self._row_count:
            return SegmentRows(self.ids, self.vectors)
        return SegmentRows(self._ids[rows], self._vectors[rows])

    def _reserve(self, row_count: int) -> None:
        if row_count <= len(self._ids):
            return
        self._move(np.arange(self._row_count), max(row_count, 2 * len(self._ids)))

    def _sweep(self) -> None:
        rows = np.flatnonzero(self._alive[: self._row_count])
        self._move(rows, max(_FIRST_CAPACITY, 2 * len(rows)))

    def _move(self, rows: IntVector, capacity: int) -> None:
        """Copies rows into arrays of this capacity."""
        ids = np.empty(capacity, np.int64)
        vectors = np.empty((capacity, self._dimension), np.float32)
        alive = np.zeros(capacity, np.bool_)
        kept = len(rows)
        ids[:kept] = self._ids[rows]
        vectors[:kept] = self._vectors[rows]
        alive[:kept] = self._alive[rows]
        self._ids, self._vectors, self._alive = ids, vectors, alive
        self._row_count = kept
        live = np.flatnonzero(alive)
        self._row_by_id = dict(zip(ids[live].tolist(), live.tolist(), strict=True))
