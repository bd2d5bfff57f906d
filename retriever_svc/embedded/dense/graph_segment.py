"""A segment with an HNSW graph over its rows. Nothing but its live flags ever changes."""

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph, LiveRows
from retriever_svc.embedded.dense.segment_rows import Flags, QueryVector, SegmentRows

# Below these a graph search through dead rows loses hits, and an exact one is as fast.
_FEW_ROWS = 1_000
_FEW_SHARE = 0.1


class GraphSegment(SegmentRows):
    """Rows that live in the storage of the graph; they are not held twice."""

    def __init__(self, graph: HnswGraph, ids: IntVector, alive: Flags) -> None:
        """Takes a graph of len(ids) rows as its own."""
        self.graph = graph
        super().__init__(ids, graph.vectors(), alive)
        self._live_rows = LiveRows(alive)
        self._lossy = graph.lossy

    @property
    def lossy(self) -> bool:
        """Whether `vectors` gives approximations."""
        return self._lossy

    @property
    def answers_exactly(self) -> bool:
        """Whether `near` misses no row."""
        return self._few_live and not self._lossy

    @property
    def _few_live(self) -> bool:
        # Too few for the graph; searches look at all of them.
        return self.live_count <= max(_FEW_ROWS, int(self.row_count * _FEW_SHARE))

    def kill(self, rows: IntVector) -> None:
        """Marks live rows as dead; each row is named once."""
        super().kill(rows)
        self._live_rows.kill(rows)

    def near(self, query: QueryVector, count: int, search_breadth: int) -> IntVector:
        """Returns about the `count` live rows of largest inner product, found through the graph."""
        if self._few_live:
            return self.nearest(query, count)
        live = self._live_rows if self.live_count < self.row_count else None
        return self.graph.near(query, min(count, self.live_count), search_breadth, live)
