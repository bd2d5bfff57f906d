"""A part of the passages, for searches that may find nothing else."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.growing_segment import GrowingSegment
from retriever_svc.embedded.dense.hnsw_graph import LiveRows
from retriever_svc.embedded.dense.segment_rows import (
    Flags,
    QueryVector,
    SegmentRows,
    exact_nearest,
)

# A graph is searched exactly where the subset holds so small a share of its rows: its paths lose
# their way among closed ones, and looking at all open rows is as fast.
_EXACT_SHARE = 0.1
# So small a share is copied out of the vectors instead of multiplying them all.
_COPIED_SHARE = 0.005
_MAX_BREADTH = 512


@dataclass(frozen=True, slots=True)
class SubsetRows:
    """Holds the rows of a segment that are live and belong to the subset."""

    row_count: int
    """Rows the segment had."""
    flags: Flags
    count: int
    selected: LiveRows | None
    """The same for FAISS; None where no graph is searched."""


@dataclass(frozen=True, slots=True)
class NearRows:
    """Holds rows of a segment near a query, and whether there can be no nearer ones."""

    rows: IntVector
    exact: bool


class Subset:
    """Ids of passages, and where their rows are; good for one state of the indexes."""

    def __init__(self, ids: IntVector) -> None:
        """Takes growing ids as its own."""
        self.ids = ids
        self._rows: WeakKeyDictionary[GrowingSegment | SegmentRows, SubsetRows] = (
            WeakKeyDictionary()
        )

    def __len__(self) -> int:
        return len(self.ids)

    def contains(self, ids: IntVector) -> Flags:
        """Says for each id whether it belongs to the subset."""
        if not len(self.ids):
            return np.zeros(len(ids), np.bool_)
        places = np.searchsorted(self.ids, ids)
        flags: Flags = self.ids[np.minimum(places, len(self.ids) - 1)] == ids
        return flags

    def rows_of(self, segment: GrowingSegment | SegmentRows) -> SubsetRows:
        """Returns the rows of the subset in a segment."""
        known = self._rows.get(segment)
        # Between two changes rows are only added, when small graphs dissolve.
        if known is None or known.row_count != len(segment.ids):
            flags = self.contains(segment.ids) & segment.alive
            graph = isinstance(segment, GraphSegment)
            known = SubsetRows(
                len(flags), flags, int(flags.sum()), LiveRows(flags) if graph else None
            )
            self._rows[segment] = known
        return known

    def near(
        self,
        segment: GrowingSegment | SegmentRows,
        query: QueryVector,
        count: int,
        settings: DenseSettings | None,
    ) -> NearRows:
        """Returns about the `count` (at least 1) nearest rows of the subset, in any order.

        Never fewer than min(count, rows of the subset). Without settings always exact.
        """
        rows = self.rows_of(segment)
        wanted = min(count, rows.count)
        if not wanted:
            return NearRows(np.empty(0, np.int64), exact=True)
        if rows.count <= rows.row_count * _COPIED_SHARE:
            chosen = np.flatnonzero(rows.flags)
            best = exact_nearest(segment.vectors[chosen], None, query, wanted)
            return NearRows(chosen[best], exact=True)
        if not isinstance(segment, GraphSegment) or rows.selected is None:
            dead = None if rows.count == rows.row_count else ~rows.flags
            return NearRows(exact_nearest(segment.vectors, dead, query, wanted), exact=True)
        if settings is not None and rows.count > max(
            settings.subset_row_limit, int(_EXACT_SHARE * rows.row_count)
        ):
            least = settings.search_breadth
            breadth = max(least, min(_MAX_BREADTH, least * rows.row_count // rows.count))
            found = segment.graph.near(query, wanted, breadth, rows.selected)
            # The graph may lose its way; then all rows are looked at.
            if len(found) == wanted:
                return NearRows(found, exact=False)
        return NearRows(segment.graph.nearest(query, wanted, rows.selected), exact=True)
