"""Sees to it that deleted content leaves every file of the data folder within a bounded time.

A deletion makes unfindable at once, but its bytes stay: terms in the BM25 index, vectors in the
snapshots of graphs, pages in the write-ahead log, copies in the unused middle of pages that SQLite
has reorganised. A purge builds indexes and graphs anew, writes their snapshots, writes all pages of
a small store anew, and empties the log. When it is due is noted in the store: a restart keeps it.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

import structlog

from retriever_svc.embedded.checkpoints import Checkpoints
from retriever_svc.embedded.compactions import Compactions
from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.graph_builder import GraphBuilder
from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.store.changes import Change, WorkspaceDeleted
from retriever_svc.embedded.store.deleted_content import (
    begin_purge,
    deleted_since,
    end_purge,
    note_deletion,
)
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import read_workspaces
from retriever_svc.embedded.upkeep_metrics import UpkeepMetrics
from retriever_svc.store.document_change import DocumentChange

_log = structlog.get_logger("retriever.purges")
# A purge begins after this share of the time in which it must have ended.
_BEGIN_SHARE = 0.75
_POLL_S = 0.05
_HELD_PAUSE_S = 1.0
_RETRY_PAUSE_S = 60.0


@dataclass(slots=True)
class _Purge:
    workspace_id: int
    compacted: "Future[None]"
    snapshots: "Future[bool] | None" = None
    """There once the graphs are."""
    vacuumed: bool = False


class Purges:
    """Used by the writer thread; purges one workspace after the other."""

    def __init__(
        self,
        store: Store,
        worker: SearchWorker,
        compactions: Compactions,
        builder: GraphBuilder,
        checkpoints: Checkpoints,
        metrics: UpkeepMetrics,
        *,
        within_s: float,
        vacuum_limit_bytes: int,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`within_s` seconds after a deletion its bytes must be gone.

        A store of up to `vacuum_limit_bytes` is written anew at the end of each purge: changes
        wait meanwhile, about a second for 64 MiB.
        """
        self._store = store
        self._worker = worker
        self._compactions = compactions
        self._builder = builder
        self._checkpoints = checkpoints
        self._metrics = metrics
        self._begin_after_s = within_s * _BEGIN_SHARE
        self._vacuum_limit_bytes = vacuum_limit_bytes
        self._now = now
        self._clock = clock
        self._due: dict[int, float] = {}
        self._running: _Purge | None = None
        # When the log must be emptied of what is gone with a whole workspace, or from before the
        # start.
        self._log_due: float | None = None
        self._vacuum_due = False

    def load(self) -> None:
        """Takes over, at the start, what earlier processes have deleted and not purged."""
        for workspace in read_workspaces(self._store.connection):
            since = deleted_since(self._store.connection, workspace.id)
            if since is not None:
                # A clock that was set back must not put the purge off.
                age = max(0.0, (self._now() - since).total_seconds())
                self._due[workspace.id] = self._clock() + max(0.0, self._begin_after_s - age)
        self._log_due = self._clock()

    def note(self, changes: Iterable[Change]) -> None:
        """Notes what changes delete, inside of their transaction."""
        for change in changes:
            if isinstance(change, DocumentChange) and change.erasing:
                note_deletion(self._store.connection, change.workspace.id, self._now())
                self._due.setdefault(change.workspace.id, self._clock() + self._begin_after_s)
            elif isinstance(change, WorkspaceDeleted):
                self._due.pop(change.workspace.id, None)

    def rows_deleted(self) -> None:
        """Notes that the rows of a deleted workspace are gone from the database."""
        self._log_due = self._clock()
        self._vacuum_due = True

    def step(self) -> float | None:
        """Does one short piece of work; returns the seconds to the next, None if there is none."""
        if self._running is not None:
            return self._proceed(self._running)
        now = self._clock()
        if self._log_due is not None and self._log_due <= now:
            self._log_due = self._empty_log(now)
            return 0.0
        for workspace_id, due in self._due.items():
            if due <= now:
                self._begin(workspace_id)
                return 0.0
        moments = [*self._due.values(), *(() if self._log_due is None else (self._log_due,))]
        return max(0.0, min(moments) - now) if moments else None

    def _begin(self, workspace_id: int) -> None:
        self._store.begin()
        begin_purge(self._store.connection, workspace_id)
        self._store.commit()
        del self._due[workspace_id]
        self._builder.build(self._worker.submit(PublishedState.purge, workspace_id).result())
        self._running = _Purge(workspace_id, self._compactions.request(workspace_id))

    def _proceed(self, purge: _Purge) -> float:
        if purge.snapshots is None:
            progress = self._worker.submit(
                PublishedState.purge_progress, purge.workspace_id
            ).result()
            if progress.building:
                return _POLL_S
            if not progress.purged:
                return self._fail(purge, "graphs were not built")
            purge.snapshots = self._builder.replace_snapshots(progress.sealed)
        if not (purge.compacted.done() and purge.snapshots.done()):
            return _POLL_S
        if purge.compacted.cancelled():
            # The workspace is deleted, with all its files.
            self._running = None
            return 0.0
        if (error := purge.compacted.exception()) is not None:
            return self._fail(purge, str(error))
        if purge.snapshots.cancelled() or not purge.snapshots.result():
            return self._fail(purge, "snapshots were not replaced")
        return self._clear_store(purge)

    def _clear_store(self, purge: _Purge) -> float:
        if not self._checkpoints.truncate():
            return _HELD_PAUSE_S
        if purge.vacuumed:
            return self._end(purge)
        if why := self._vacuum():
            return self._fail(purge, why)
        purge.vacuumed = True
        # Once more for what that wrote to the log.
        return 0.0

    def _empty_log(self, now: float) -> float | None:
        """Returns when it must be tried again; None if it is done."""
        if not self._checkpoints.truncate():
            return now + _HELD_PAUSE_S
        if not self._vacuum_due:
            return None
        why = self._vacuum()
        self._vacuum_due = bool(why)
        if why:
            _log.warning("deleted workspace not purged", why=why)
            return now + _RETRY_PAUSE_S
        # Once more for what that wrote to the log.
        return now

    def _vacuum(self) -> str:
        """Writes a small store anew; returns why that failed, empty if it did not."""
        try:
            if self._store.size_bytes <= self._vacuum_limit_bytes:
                self._store.vacuum()
        except sqlite3.Error as error:
            self._store.distrust()
            return str(error)
        return ""

    def _end(self, purge: _Purge) -> float:
        reach(Failpoint.PURGED_BEFORE_NOTE)
        self._store.begin()
        end_purge(self._store.connection, purge.workspace_id)
        self._store.commit()
        self._running = None
        self._metrics.purged.inc()
        _log.info("deleted content is gone from all files", workspace_id=purge.workspace_id)
        return 0.0

    def _fail(self, purge: _Purge, why: str) -> float:
        self._running = None
        self._due[purge.workspace_id] = self._clock() + _RETRY_PAUSE_S
        self._metrics.purge_failed.inc()
        _log.warning("deleted content not purged", workspace_id=purge.workspace_id, why=why)
        return 0.0
