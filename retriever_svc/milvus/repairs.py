"""Finishes what lost processes left unfinished, and builds anew what Milvus has lost.

Every replica looks; for a workspace one of them works at a time.
"""

import threading

import structlog

from chassis.errors import ServiceError
from retriever_svc.milvus.collections.workspace_collections import WorkspaceCollections
from retriever_svc.milvus.propagation import Propagation
from retriever_svc.milvus.repair_metrics import RepairMetrics
from retriever_svc.milvus.store import outbox
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.workspace_rows import read_workspaces

_log = structlog.get_logger("retriever.repairs")


class Repairs:
    """A thread that looks into the outbox now and then."""

    def __init__(
        self,
        store: PostgresStore,
        collections: WorkspaceCollections,
        propagation: Propagation,
        metrics: RepairMetrics,
        pause_s: float,
    ) -> None:
        """Starts the thread."""
        self._store = store
        self._collections = collections
        self._propagation = propagation
        self._metrics = metrics
        self._pause_s = pause_s
        self._ending = threading.Event()
        self._seen: dict[int, int] = {}
        self._compared = False
        self._thread = threading.Thread(target=self._run, name="repairs")
        self._thread.start()

    def close(self) -> None:
        """Ends the thread after the work at hand."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._look()
            except ServiceError as error:
                _log.warning("repairs put off", error=str(error))
            except Exception:
                _log.exception("repairs failed")
            self._ending.wait(self._pause_s)

    def _look(self) -> None:
        if not self._compared:
            self._order_rebuilding()
            self._compared = True
        with self._store.snapshot() as connection:
            oldest = outbox.oldest_entries(connection)
        # What is there since the last look belongs to nobody who is about to finish it.
        left = [one for one, entry in oldest.items() if self._seen.get(one) == entry]
        self._seen = oldest
        self._metrics.behind.set(len(left))
        for workspace_id in left:
            if not self._ending.is_set():
                self._repair(workspace_id)

    def _repair(self, workspace_id: int) -> None:
        try:
            repaired = self._propagation.settle(workspace_id, wait=False)
        except ServiceError as error:
            # The next one may have more luck.
            self._metrics.failed.inc()
            _log.warning("changes not yet in Milvus", workspace_id=workspace_id, error=str(error))
        else:
            if repaired:
                self._metrics.repaired.inc()
                _log.info("changes brought to Milvus", workspace_id=workspace_id)

    def _order_rebuilding(self) -> None:
        with self._store.snapshot() as connection:
            workspaces = read_workspaces(connection)
        for workspace in workspaces:
            if self._collections.lacks_some(workspace):
                _log.warning("collections are missing", workspace_id=workspace.id)
                self._propagation.rebuild_missing(workspace)
