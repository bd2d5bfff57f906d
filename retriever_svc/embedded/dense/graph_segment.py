"""A segment with an HNSW graph over its rows. Nothing but its live flags ever changes."""

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.segment_rows import Flags, QueryVector, SegmentRows

# Below these a graph search through dead rows loses hits, and an exact one is as fast.
_FEW_ROWS = 1_000
_FEW_SHARE = 0.1
# So many times the rows that would be wanted on average are met, because dead rows come in groups.
_SPARE = 1.25


class GraphSegment(SegmentRows):
    """Rows that live in the storage of the graph; they are not held twice."""

    def __init__(self, graph: HnswGraph, ids: IntVector, alive: Flags) -> None:
        """Takes a graph of len(ids) rows as its own."""
        self.graph = graph
        super().__init__(ids, graph.vectors(), alive)
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

    def near(self, query: QueryVector, count: int, search_breadth: int) -> IntVector:
        """Returns about the `count` live rows of largest inner product, found through the graph.

        Never fewer than `count`, unless fewer are live.
        """
        if self._few_live:
            return self.nearest(query, count)
        wanted = min(count, self.live_count)
        if self.live_count == self.row_count:
            return self._enough(self.graph.near(query, wanted, search_breadth), query, wanted)
        # To drop dead rows from all that the search meets is faster than to have FAISS ask for
        # each of them, and its paths are the same.
        breadth = max(search_breadth, int(_SPARE * wanted * self.row_count / self.live_count))
        met = self.graph.near(query, min(breadth, self.row_count), breadth)
        return self._enough(met[self.alive[met]][:wanted], query, wanted)

    def _enough(self, rows: IntVector, query: QueryVector, wanted: int) -> IntVector:
        # Around the query most rows may be dead, or the paths to it be lost.
        return rows if len(rows) == wanted else self.nearest(query, wanted)
