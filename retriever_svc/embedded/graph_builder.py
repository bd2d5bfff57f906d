"""Builds graphs aside, one at a time, on a thread of its own."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition, Event

import structlog

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildStopped, build_graph
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.published_state import DueBuild

_log = structlog.get_logger("retriever.graphs")


class GraphBuilder:
    """Takes due builds; hands each finished graph to `publish`, which returns what is due next."""

    def __init__(
        self,
        settings: DenseSettings,
        publish: Callable[[DueBuild, HnswGraph | None], Iterable[DueBuild]],
    ) -> None:
        """`publish` gets None for a graph that could not be built; it runs on this thread."""
        self._settings = settings
        self._publish = publish
        self._stop = Event()
        self._pending = 0
        self._change = Condition()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="graph-builder")

    def build(self, due: Iterable[DueBuild]) -> None:
        """Queues builds."""
        for one in due:
            if self._stop.is_set():
                return
            with self._change:
                self._pending += 1
            try:
                self._executor.submit(self._run, one).add_done_callback(self._note_done)
            except RuntimeError:
                # Closed meanwhile.
                with self._change:
                    self._pending -= 1

    def wait_until_idle(self, timeout: float | None = None) -> bool:
        """Waits until nothing is queued or running; returns False after `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: self._pending == 0, timeout)

    def close(self) -> None:
        """Gives up what is running and queued."""
        self._stop.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _run(self, due: DueBuild) -> None:
        try:
            graph = build_graph(due.plan, self._settings, self._stop)
        except BuildStopped:
            return
        except Exception:
            # The rows stay searchable without the graph.
            _log.exception("graph not built", dimension=due.plan.dimension)
            self._publish(due, None)
            return
        self.build(self._publish(due, graph))

    def _note_done(self, done: "Future[None]") -> None:
        with self._change:
            self._pending -= 1
            self._change.notify_all()
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.error("graph not published", exc_info=error)
