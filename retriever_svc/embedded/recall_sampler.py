"""Repeats a sampled share of dense lists exactly, in the background, and publishes their recall.

Queries never wait for it: they only note what is needed (references, and a copy of the live
flags), a full queue drops the sample and counts it, and the repetition runs on a thread of its own
with the lowest priority that the system gives.
"""

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Full, Queue
from random import random

import structlog
from prometheus_client import CollectorRegistry

from retriever_svc.embedded.dense.pinned_rows import PinnedRows, recall_of
from retriever_svc.embedded.dense.segment_rows import QueryVector
from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.recall_metrics import RecallMetrics, recall_metrics_of
from retriever_svc.embedded.searching.prepared_query import PreparedQuery
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.searching.made_lists import MadeLists

_QUEUE_LIMIT = 8
_LOWEST_PRIORITY = 19

_log = structlog.get_logger("retriever.recall")


@dataclass(frozen=True, slots=True)
class _Sample:
    workspace: str
    space_id: str
    count: int
    query: QueryVector
    segments: tuple[PinnedRows, ...]
    subset: Subset | None


class RecallSampler:
    """Used by the search thread; measures on its own."""

    def __init__(
        self,
        share: float,
        metrics: RecallMetrics,
        *,
        drawn: Callable[[], float] = random,
        queue_limit: int = _QUEUE_LIMIT,
    ) -> None:
        """Samples a query where `drawn()`, in [0, 1), is under `share`."""
        self._share = share
        self._metrics = metrics
        self._drawn = drawn
        self._queue: Queue[_Sample | None] = Queue(queue_limit)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._measure_all, name="recall", daemon=True)
        self._thread.start()

    def note(
        self,
        view: WorkspaceView,
        query: PreparedQuery,
        made: MadeLists,
        subset: Subset | None,
        count: int,
    ) -> None:
        """Takes the dense lists of a query into the sample, or not."""
        if self._drawn() >= self._share:
            return
        for described, ranking in zip(made.descriptions, made.rankings, strict=True):
            if not described.space_id:
                continue
            if described.exact:
                # Repeating it would find the same.
                self._metrics.observe(view.row.slug, described.space_id, 1.0)
                continue
            if self._queue.full():
                self._metrics.dropped.inc()
                continue
            sample = _Sample(
                view.row.slug,
                described.space_id,
                count,
                query.variants[described.variant_index].vectors[described.space_id],
                view.indexes[described.space_id].pinned(ranking.ids),
                subset,
            )
            try:
                self._queue.put_nowait(sample)
            except Full:
                self._metrics.dropped.inc()

    def wait_until_idle(self) -> None:
        """Waits until every sample that was taken is measured."""
        self._queue.join()

    def close(self) -> None:
        """Gives up the samples that wait."""
        self._closing.set()
        while True:
            try:
                self._queue.put_nowait(None)
                break
            except Full:
                self._drop_one()
        self._thread.join()

    def _drop_one(self) -> None:
        try:
            self._queue.get_nowait()
        except Empty:
            return
        self._queue.task_done()

    def _measure_all(self) -> None:
        _take_lowest_priority()
        while True:
            sample = self._queue.get()
            try:
                if sample is None or self._closing.is_set():
                    return
                self._measure(sample)
            except Exception:
                self._metrics.failed.inc()
                _log.exception("recall not measured")
            finally:
                self._queue.task_done()

    def _measure(self, sample: _Sample) -> None:
        recall = recall_of(sample.segments, sample.query, sample.count, sample.subset)
        self._metrics.observe(sample.workspace, sample.space_id, recall)


def recall_sampler(share: float, registry: CollectorRegistry) -> RecallSampler | None:
    """Returns a sampler with its metrics in the registry; None for a share of 0."""
    return RecallSampler(share, recall_metrics_of(registry)) if share else None


def _take_lowest_priority() -> None:
    # Only Linux gives single threads a priority.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
