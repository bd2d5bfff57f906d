"""The dense index of one workspace and space.

New vectors go to a growing segment; when it is full its rows are frozen, a graph is built of them
aside, and the finished segment is swapped in. Everything here runs on the search thread except the
building itself, so a search never meets a half-made change.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.dense_hits import DenseHits, best_hits
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildPlan, Origin, segment_from
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.growing_segment import GrowingSegment
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.inner_products import inner_products, products_of_rows
from retriever_svc.embedded.dense.pinned_rows import PinnedRows
from retriever_svc.embedded.dense.purge_marks import PurgeMarks
from retriever_svc.embedded.dense.restoration import Restoration, RestorePlan
from retriever_svc.embedded.dense.segment_rows import QueryVector, SegmentRows
from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.workspaces import DenseIndexKind

# Fetched beyond what is asked, so that rounding in the segments cannot decide who is last.
_MARGIN = 8
# Of approximate vectors so many times more are fetched, and ordered by the exact ones.
_LOSSY_WIDENING = 2

StoredVectors: TypeAlias = Callable[[IntVector], Iterable[tuple[int, npt.NDArray[np.float32]]]]
"""Gives ids, of those asked for, with their vectors."""


def _nothing_stored(_ids: IntVector) -> tuple[tuple[int, npt.NDArray[np.float32]], ...]:
    return ()


class SpaceIndex:
    """Finds the nearest live vectors; the exact search is always there as well."""

    def __init__(
        self,
        dimension: int,
        kind: DenseIndexKind,
        settings: DenseSettings,
        stored: StoredVectors = _nothing_stored,
    ) -> None:
        """`stored` gives exact vectors where a graph holds approximations."""
        self._stored = stored
        self.dimension = dimension
        self._kind = kind
        self._settings = settings
        self._growing = GrowingSegment(dimension)
        self._frozen: list[SegmentRows] = []
        self._graphs: list[GraphSegment] = []
        self._plan: BuildPlan | RestorePlan | None = None
        # Rows from the store for which there may be graphs on disk.
        self._loaded: SegmentRows | None = None
        self._marks = PurgeMarks()

    def __len__(self) -> int:
        return self._growing.live_count + sum(segment.live_count for segment in self._fixed)

    @property
    def active_kind(self) -> DenseIndexKind:
        """HNSW where a graph answers, FLAT otherwise."""
        return DenseIndexKind.HNSW if self._graphs else DenseIndexKind.FLAT

    @property
    def graphs(self) -> tuple[GraphSegment, ...]:
        """The graph segments."""
        return tuple(self._graphs)

    def load(self, ids: IntVector, vectors: FloatMatrix) -> None:
        """Takes the rows of an empty index from the store, ids growing."""
        self._marks.doubt()
        if self._kind is not DenseIndexKind.FLAT and len(ids) > self._flat_rows:
            self._loaded = SegmentRows(ids, vectors)
            self._frozen.append(self._loaded)
        else:
            self._growing.add(ids, vectors)

    def put(self, ids: IntVector, vectors: FloatMatrix) -> None:
        """Stores unit vectors, [ids, dimension], in place of earlier ones; each id once."""
        self.remove(ids)
        self._growing.add(ids, vectors)

    def remove(self, ids: IntVector) -> None:
        """Removes the vectors of these ids; an id without one is no error."""
        for segment in self._segments:
            rows = segment.locate(ids)
            found = rows[rows >= 0]
            if len(found):
                segment.kill(found)

    def contains(self, ids: IntVector) -> npt.NDArray[np.bool_]:
        """Says for each id whether it has a vector here."""
        held = np.zeros(len(ids), np.bool_)
        for segment in self._segments:
            held |= segment.locate(ids) >= 0
        return held

    def cosines(self, ids: IntVector, query: QueryVector) -> npt.NDArray[np.float32]:
        """Returns the cosine of each id's vector with the unit query; NaN where there is none."""
        cosines = np.full(len(ids), np.nan, np.float32)
        # The largest first: mostly nothing is left to be sought in the others.
        for segment in reversed(self._segments):
            if not segment.live_count:
                continue
            rows = segment.locate(ids)
            found = rows >= 0
            if found.all():
                return self._products(segment, rows, query)
            if found.any():
                cosines[found] = self._products(segment, rows[found], query)
        return cosines

    def search(self, query: QueryVector, count: int, *, exact: bool = False) -> DenseHits:
        """Returns the `count` (at least 1) nearest passages, fewer only if there are fewer."""
        ids: list[IntVector] = []
        cosines: list[npt.NDArray[np.float32]] = []
        lossy = any(segment.lossy for segment in self._graphs)
        fetched = count * (_LOSSY_WIDENING if lossy else 1) + _MARGIN
        for segment in self._segments:
            if not segment.live_count:
                continue
            if isinstance(segment, GraphSegment) and not exact:
                rows = segment.near(query, fetched, self._settings.search_breadth)
            else:
                rows = segment.nearest(query, fetched)
            ids.append(segment.ids[rows])
            cosines.append(self._products(segment, rows, query))
        approximate = any(not segment.answers_exactly for segment in self._graphs)
        return best_hits(ids, cosines, count, exact=not approximate or (exact and not lossy))

    def search_among(
        self, subset: Subset, query: QueryVector, count: int, *, exact: bool = False
    ) -> DenseHits:
        """Returns the `count` nearest passages of the subset, fewer only if it has fewer."""
        ids: list[IntVector] = []
        cosines: list[npt.NDArray[np.float32]] = []
        settings = None if exact else self._settings
        approximate = False
        for segment in [one for one in self._segments if subset.rows_of(one).count]:
            found = subset.near(segment, query, count + _MARGIN, settings)
            lossy = isinstance(segment, GraphSegment) and segment.lossy
            approximate = approximate or lossy or not found.exact
            ids.append(segment.ids[found.rows])
            cosines.append(self._products(segment, found.rows, query))
        return best_hits(ids, cosines, count, exact=not approximate)

    def pinned(self, found: Sequence[int]) -> tuple[PinnedRows, ...]:
        """Returns what is live now, for an exact search on another thread, with the rows found."""
        ids = np.array(found, np.int64)
        return tuple(PinnedRows.of(segment, ids) for segment in self._segments)

    def count_among(self, subset: Subset) -> int:
        """Returns how many passages of the subset have a vector here."""
        return sum(subset.rows_of(segment).count for segment in self._segments)

    def purge(self) -> None:
        """Asks for graphs, from `next_build` on, without the rows that are dead now."""
        self._marks.ask(self._graphs, building=self._plan is not None or self._loaded is not None)

    @property
    def building(self) -> bool:
        """Whether a plan is out that neither came back nor was abandoned."""
        return self._plan is not None

    @property
    def purged(self) -> bool:
        """Whether the graphs hold none of the rows that were dead at the last `purge`."""
        self._marks.first(self._graphs)
        return self._marks.clean

    def next_build(self) -> BuildPlan | RestorePlan | None:
        """Returns the plan of a graph that should be built now; None while a build runs.

        `publish` or `restore`, or else `abandon`, must follow.
        """
        if self._plan is not None or self._kind is DenseIndexKind.FLAT:
            return None
        if self._loaded is not None:
            self._plan, self._loaded = RestorePlan(self._loaded), None
            return self._plan
        self._dissolve_if_small()
        self._plan = self._compaction() or self._sealing()
        return self._plan

    def publish(self, plan: BuildPlan, graph: HnswGraph) -> None:
        """Swaps in the graph that was built of the plan, for the segments it was made of."""
        replaced = plan.sources()
        segment = segment_from(plan, graph)
        self._frozen = [kept for kept in self._frozen if kept not in replaced]
        self._graphs = [kept for kept in self._graphs if kept not in replaced]
        if segment.live_count:
            self._graphs.append(segment)
        self._marks.arrived([segment])
        self._plan = None

    def restore(self, plan: RestorePlan, restored: Restoration) -> None:
        """Swaps in the graphs found for the rows of the plan; the other rows stay as they are."""
        self._plan = None
        if not restored.graphs:
            self._marks.arrived([])
            return
        loaded = plan.loaded
        self._frozen = [kept for kept in self._frozen if kept is not loaded]
        for found in restored.graphs:
            # The last place stands for origin -1.
            alive = np.append(loaded.alive, False)[found.origins]
            self._graphs.append(GraphSegment(found.graph, found.ids, alive))
        self._marks.arrived(self._graphs)
        missing = restored.missing[loaded.alive[restored.missing]]
        self._growing.add(loaded.ids[missing], loaded.vectors[missing])

    def abandon(self) -> None:
        """Notes that the build came to nothing; its rows stay searchable and are planned again."""
        self._plan = None
        self._marks.failed()

    def _products(
        self, segment: GrowingSegment | SegmentRows, rows: IntVector, query: QueryVector
    ) -> npt.NDArray[np.float32]:
        """Returns the cosines of rows with the unit query, by their vectors as they are stored."""
        vectors = segment.vectors
        if isinstance(vectors, np.ndarray):
            return products_of_rows(vectors, rows, query)
        return inner_products(self._vectors_of(segment, rows), query)

    def _vectors_of(self, segment: GrowingSegment | SegmentRows, rows: IntVector) -> FloatMatrix:
        """Returns the vectors of rows as they are stored."""
        vectors = segment.vectors[rows]
        if isinstance(segment, GraphSegment) and segment.lossy:
            ids = segment.ids[rows]
            for id_, vector in self._stored(ids):
                vectors[ids == id_] = vector
        return vectors

    def _dissolve_if_small(self) -> None:
        if not self._graphs or self._frozen:
            return
        if self._settings.may_have_graphs(self._kind, len(self), self.dimension):
            return
        for segment in self._graphs:
            rows = np.flatnonzero(segment.alive)
            self._growing.add(segment.ids[rows], self._vectors_of(segment, rows))
        self._graphs = []

    def _compaction(self) -> BuildPlan | None:
        self._graphs = [segment for segment in self._graphs if segment.live_count]
        for segment in self._graphs:
            if segment.dead_share >= self._settings.dead_share_limit:
                return BuildPlan(self.dimension, (_live_rows(segment),))
        marked = self._marks.first(self._graphs)
        return None if marked is None else BuildPlan(self.dimension, (_live_rows(marked),))

    def _sealing(self) -> BuildPlan | None:
        if not self._frozen and not self._freeze_when_full():
            return None
        origins = tuple(_live_rows(segment) for segment in self._frozen)
        open_graphs = [
            segment
            for segment in self._graphs
            if segment.row_count < self._settings.segment_row_limit
        ]
        return BuildPlan(self.dimension, origins, open_graphs[-1] if open_graphs else None)

    def _freeze_when_full(self) -> bool:
        sealed = sum(segment.row_count for segment in self._graphs)
        enough = self._settings.growing_rows(self.dimension, sealed)
        if len(self) <= self._flat_rows or self._growing.live_count < enough:
            return False
        self._frozen.append(self._growing.frozen())
        self._growing = GrowingSegment(self.dimension)
        return True

    @property
    def _fixed(self) -> tuple[SegmentRows, ...]:
        return *self._frozen, *self._graphs

    @property
    def _segments(self) -> tuple[GrowingSegment | SegmentRows, ...]:
        return self._growing, *self._frozen, *self._graphs

    @property
    def _flat_rows(self) -> int:
        auto = self._kind is DenseIndexKind.AUTO
        return self._settings.flat_rows(self.dimension) if auto else 0


def _live_rows(segment: SegmentRows) -> Origin:
    return Origin(segment, np.flatnonzero(segment.alive))
