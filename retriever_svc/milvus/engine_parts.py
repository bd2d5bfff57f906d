"""The parts of the engine, opened in order and put together."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from prometheus_client import CollectorRegistry

from chassis.errors import Unavailable
from retriever_svc.milvus.changes import Changes
from retriever_svc.milvus.clients.milvus_connection import (
    CollectionMissingError,
    MilvusConnection,
)
from retriever_svc.milvus.collections.workspace_collections import WorkspaceCollections
from retriever_svc.milvus.document_reader import DocumentReader
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.propagation import Propagation
from retriever_svc.milvus.repair_metrics import repair_metrics_of
from retriever_svc.milvus.repairs import Repairs
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.searching.side_by_side import SideBySide
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.workspace_rows import find_workspace

R = TypeVar("R")
_PATIENCE_S = 2.0
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class EngineParts:
    """Holds what answers calls."""

    settings: MilvusSettings
    store: PostgresStore
    milvus: MilvusConnection
    collections: WorkspaceCollections
    propagation: Propagation
    changes: Changes
    documents: DocumentReader
    side_by_side: SideBySide
    reading: ThreadPoolExecutor
    """Threads of searches and reads."""
    writing: ThreadPoolExecutor
    """Threads of changes, which wait for each other."""

    def look(self, slug: str, search: Callable[[SearchView], R]) -> R:
        """Searches a workspace as it is now.

        A collection that is not there is waited for, as a change may be bringing it. Raises
        NotFound, and Unavailable where it does not come.
        """
        until = time.monotonic() + _PATIENCE_S
        while True:
            with self.store.snapshot() as connection:
                row = find_workspace(connection, slug)
                view = SearchView(
                    row,
                    connection,
                    self.milvus,
                    self.collections,
                    self.settings,
                    self.side_by_side,
                )
                try:
                    return search(view)
                except CollectionMissingError as error:
                    missing = error
            self.propagation.rebuild_missing(row)
            if time.monotonic() > until:
                raise Unavailable(
                    f"the indexes of workspace {slug!r} are being built; repeat the call",
                    retry_after_s=1.0,
                    reason="WORKSPACE_LOADING",
                ) from missing
            time.sleep(_PAUSE_S)


def open_parts(
    stack: ExitStack, settings: MilvusSettings, registry: CollectorRegistry
) -> EngineParts:
    """Connects everything; closed, in reverse order, by `stack`.

    Raises Unavailable where the store does not answer, FailedPrecondition where a newer build
    wrote it.
    """
    # One more for the repairs.
    store = PostgresStore(settings.store_url, pool_size=2 * settings.thread_count + 1)
    stack.callback(store.close)
    store.prepare()
    milvus = MilvusConnection(
        settings.milvus_uri,
        token=settings.milvus_token,
        database=settings.milvus_database,
        timeout_s=settings.timeout_s,
    )
    stack.callback(milvus.close)
    collections = WorkspaceCollections(milvus, store.identity, settings)
    propagation = Propagation(store, collections)
    metrics = repair_metrics_of(registry)
    repairs = Repairs(store, collections, propagation, metrics, settings.repair_pause_s)
    stack.callback(repairs.close)
    side_by_side = SideBySide(settings.thread_count)
    stack.callback(side_by_side.close)
    reading = ThreadPoolExecutor(settings.thread_count, thread_name_prefix="searches")
    stack.callback(reading.shutdown)
    writing = ThreadPoolExecutor(settings.thread_count, thread_name_prefix="changes")
    stack.callback(writing.shutdown)
    return EngineParts(
        settings,
        store,
        milvus,
        collections,
        propagation,
        Changes(store, propagation),
        DocumentReader(store),
        side_by_side,
        reading,
        writing,
    )
