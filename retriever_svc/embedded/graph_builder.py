"""Builds graphs, or reads them from snapshots, aside: one at a time, on a thread of its own."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Condition, Event
from typing import Any, TypeVar
from weakref import ref

import structlog

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildStopped, build_graph
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.restoration import Restoration, RestorePlan, restoration
from retriever_svc.embedded.published_state import DueBuild, GraphsPublished
from retriever_svc.embedded.snapshots.snapshot_place import SealedGraphs, SnapshotPlace
from retriever_svc.embedded.snapshots.snapshots import Snapshots

R = TypeVar("R")

_log = structlog.get_logger("retriever.graphs")


@dataclass(frozen=True, slots=True)
class _SealedLast:
    seq: int
    segments: tuple["ref[GraphSegment]", ...]


class GraphBuilder:
    """Takes due builds; hands finished graphs to `publish`, which returns what is due next."""

    def __init__(
        self,
        settings: DenseSettings,
        snapshots: Snapshots,
        publish: Callable[[DueBuild, HnswGraph | Restoration | None], GraphsPublished],
    ) -> None:
        """`publish` gets None for a graph that could not be built; it runs on this thread."""
        self._settings = settings
        self._snapshots = snapshots
        self._publish = publish
        # Graphs that may be newer than their snapshot; an index may have given them up since.
        self._sealed: dict[SnapshotPlace, _SealedLast] = {}
        self._stop = Event()
        self._pending = 0
        self._change = Condition()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="graph-builder")

    def build(self, due: Iterable[DueBuild]) -> None:
        """Queues builds."""
        for one in due:
            if self._stop.is_set():
                return
            self._queue(partial(self._run, one))

    def replace_snapshots(self, sealed: Sequence[SealedGraphs]) -> "Future[bool]":
        """Queues that these graphs, and no others of their spaces, are on disk.

        The result says whether they are; it is cancelled when the builder is closed.
        """
        return self._queue(lambda: all([self._snapshots.replace(graphs) for graphs in sealed]))

    def wait_until_idle(self, timeout: float | None = None) -> bool:
        """Waits until nothing is queued or running; returns False after `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: self._pending == 0, timeout)

    def close(self) -> None:
        """Gives up what is running and queued; writes the snapshots that are out of date."""
        self._stop.set()
        self._executor.shutdown(wait=True, cancel_futures=True)
        for place, last in self._sealed.items():
            segments = tuple(segment for known in last.segments if (segment := known()) is not None)
            if len(segments) == len(last.segments):
                sealed = SealedGraphs(place, last.seq, segments)
                self._snapshots.save(sealed, whatever_changed=True)

    def _queue(self, work: Callable[[], R]) -> "Future[R]":
        with self._change:
            self._pending += 1
        try:
            queued = self._executor.submit(work)
        except RuntimeError:
            # Closed meanwhile.
            queued = Future()
            queued.cancel()
        queued.add_done_callback(self._note_done)
        return queued

    def _run(self, due: DueBuild) -> None:
        try:
            outcome = self._outcome(due)
        except BuildStopped:
            return
        except Exception:
            # The rows stay searchable without the graph.
            _log.exception("graph not built", dimension=due.place.dimension)
            self._publish(due, None)
            return
        published = self._publish(due, outcome)
        self.build(published.due)
        self._keep(published.sealed)

    def _outcome(self, due: DueBuild) -> HnswGraph | Restoration:
        if isinstance(due.plan, RestorePlan):
            return self._restored(due, due.plan)
        graph = build_graph(due.plan, self._settings, self._stop)
        self._snapshots.metrics.built.inc()
        return graph

    def _restored(self, due: DueBuild, plan: RestorePlan) -> Restoration:
        try:
            return restoration(plan, self._snapshots.load(due.place, due.seq))
        except Exception:
            _log.exception("snapshot not loaded", workspace_id=due.place.workspace_id)
            return restoration(plan, [])

    def _keep(self, sealed: SealedGraphs) -> None:
        if sealed.segments:
            segments = tuple(ref(segment) for segment in sealed.segments)
            self._sealed[sealed.place] = _SealedLast(sealed.seq, segments)
            self._snapshots.save(sealed)
        else:
            self._sealed.pop(sealed.place, None)

    def _note_done(self, done: "Future[Any]") -> None:
        with self._change:
            self._pending -= 1
            self._change.notify_all()
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.error("graph not published", exc_info=error)
