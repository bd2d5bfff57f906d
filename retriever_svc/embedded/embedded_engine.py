"""The embedded engine: one process, one data folder.

Three threads do the work: the writer commits and publishes, the search thread answers over what
is published, the document reader reads for owners of documents. Graphs are built on a fourth.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from sqlite3 import Connection

from prometheus_client import CollectorRegistry

from retriever_svc.documents import (
    DocumentPage,
    DocumentRemoval,
    DocumentUpsert,
    Parent,
    StoredDocument,
    UpsertReceipt,
)
from retriever_svc.embedded.copy_reader import opened_copy
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.engine_parts import open_parts
from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.embedded.store.changes import (
    Change,
    WorkspaceCreated,
    WorkspaceDeleted,
    WorkspaceUpdated,
)
from retriever_svc.embedded.store.sqlite_tables import over_sqlite
from retriever_svc.embedded.store.workspace_rows import (
    change_settings,
    insert_workspace,
    rename_workspace,
    retire_workspace,
)
from retriever_svc.explanations import Explanation, ExplanationRequest
from retriever_svc.filters import Filter
from retriever_svc.highlights import highlighted
from retriever_svc.searches import SearchRequest, SearchResult
from retriever_svc.space_leases import SpaceLeases
from retriever_svc.spaces import (
    AwaitingPage,
    SpaceLease,
    SpaceRemoval,
    SpaceSwitch,
    VectorsPutReceipt,
    VectorsPutRequest,
    WindowsPutRequest,
)
from retriever_svc.store.descriptions import described
from retriever_svc.store.document_removal import delete_document
from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.store.space_changes import drop_space_part, put_vectors, switch_space
from retriever_svc.store.space_windows import put_windows
from retriever_svc.store.upserts import upsert_document
from retriever_svc.transfers.workspace_copy import WorkspaceCopy, copied
from retriever_svc.workspaces import (
    Workspace,
    WorkspaceRemoval,
    WorkspaceSettings,
    WorkspaceUpdate,
)

# Few enough to keep other changes waiting for a moment only.
_DROPPED_ROWS = 2_000


def _utc_now() -> datetime:
    return datetime.now(UTC)


class EmbeddedEngine:
    """Implements `RetrievalEngine` over SQLite, FAISS and tantivy."""

    def __init__(
        self,
        settings: EmbeddedSettings,
        *,
        now: Callable[[], datetime] = _utc_now,
        registry: CollectorRegistry | None = None,
    ) -> None:
        """Opens the data folder and loads every workspace; blocks until all can be searched.

        Metrics go to `registry`, or nowhere.

        Raises FailedPrecondition if the folder is in use, unfit or written by a newer build.
        """
        self._now = now
        self._leases = SpaceLeases()
        self._purge_within_s = math.ceil(settings.purge_within_s)
        with ExitStack() as stack:
            parts = open_parts(
                stack,
                settings,
                now=now,
                registry=CollectorRegistry() if registry is None else registry,
            )
            self._documents = parts.documents
            self._reading = parts.reading
            self._worker = parts.worker
            self._builder = parts.builder
            self._writer = parts.writer
            self._sampler = parts.sampler
            self._open_reader = parts.open_reader
            self._closing = stack.pop_all()

    def close(self) -> None:
        """Finishes the changes that wait, then closes everything; blocks."""
        self._closing.close()

    def wait_for_graphs(self, timeout: float | None = None) -> bool:
        """Waits until no graph is being built; returns False after `timeout` seconds."""
        return self._builder.wait_until_idle(timeout)

    def wait_for_samples(self) -> None:
        """Waits until the recall of every sampled list is measured."""
        if self._sampler is not None:
            self._sampler.wait_until_idle()

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """See `RetrievalEngine`."""
        now = self._now()

        def operation(connection: Connection) -> tuple[Workspace, Change]:
            row = insert_workspace(connection, slug, settings, now)
            return described(row), WorkspaceCreated(row)

        return await asyncio.wrap_future(self._writer.submit(operation))

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """See `RetrievalEngine`."""
        return await asyncio.wrap_future(self._worker.submit(PublishedState.list_workspaces))

    async def describe_workspace(self, slug: str) -> Workspace:
        """See `RetrievalEngine`."""
        return await asyncio.wrap_future(self._worker.submit(PublishedState.describe, slug))

    async def update_workspace(self, update: WorkspaceUpdate) -> Workspace:
        """See `RetrievalEngine`."""
        return await self._updated(lambda connection: change_settings(connection, update))

    async def delete_workspace(self, slug: str) -> WorkspaceRemoval:
        """See `RetrievalEngine`."""

        def operation(connection: Connection) -> tuple[WorkspaceRemoval, Change]:
            gone = retire_workspace(connection, slug)
            removal = WorkspaceRemoval(
                gone.document_count, gone.passage_count, self._purge_within_s
            )
            return removal, WorkspaceDeleted(gone)

        return await asyncio.wrap_future(self._writer.submit(operation, removing=True))

    async def rename_workspace(self, slug: str, new_slug: str) -> Workspace:
        """See `RetrievalEngine`."""
        return await self._updated(lambda connection: rename_workspace(connection, slug, new_slug))

    def copy_workspace(self, slug: str) -> AbstractAsyncContextManager[WorkspaceCopy]:
        """See `RetrievalEngine`."""
        return copied(partial(opened_copy, self._open_reader, slug))

    async def upsert_document(self, upsert: DocumentUpsert) -> UpsertReceipt:
        """See `RetrievalEngine`."""
        operation = over_sqlite(upsert_document, upsert=upsert, now=self._now())
        return await asyncio.wrap_future(self._writer.submit(operation))

    async def delete_document(self, workspace: str, external_id: str) -> DocumentRemoval:
        """See `RetrievalEngine`."""
        operation = over_sqlite(delete_document, workspace_slug=workspace, external_id=external_id)
        removal = await asyncio.wrap_future(self._writer.submit(operation, removing=True))
        return replace(removal, purge_within_s=self._purge_within_s)

    async def get_document(
        self, workspace: str, external_id: str, *, include_passages: bool
    ) -> StoredDocument:
        """See `RetrievalEngine`."""
        read = partial(
            self._documents.get, workspace, external_id, include_passages=include_passages
        )
        return await asyncio.wrap_future(self._reading.submit(read))

    async def list_documents(
        self, workspace: str, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        read = partial(self._documents.list_page, workspace, page_size=page_size, after=after)
        return await asyncio.wrap_future(self._reading.submit(read))

    async def find_documents(
        self, workspace: str, condition: Filter, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        read = partial(self._documents.list_page, workspace, condition=condition)
        return await asyncio.wrap_future(
            self._reading.submit(read, page_size=page_size, after=after)
        )

    async def read_parents(self, workspace: str, passage_ids: Sequence[int]) -> list[Parent]:
        """See `RetrievalEngine`."""
        read = partial(self._documents.read_parents, workspace, passage_ids)
        return await asyncio.wrap_future(self._reading.submit(read))

    async def list_passages_awaiting(
        self,
        workspace: str,
        space_id: str,
        *,
        windows: bool = False,
        page_size: int,
        after: int | None,
    ) -> AwaitingPage:
        """See `RetrievalEngine`."""
        read = partial(
            self._documents.list_awaiting,
            workspace,
            space_id,
            windows=windows,
            page_size=page_size,
            after=after,
        )
        return await asyncio.wrap_future(self._reading.submit(read))

    async def lease_space(
        self, workspace: str, space_id: str, holder: str, duration_s: float
    ) -> SpaceLease:
        """See `RetrievalEngine`."""
        await self.describe_workspace(workspace)
        return self._leases.lease(workspace, space_id, holder, duration_s)

    async def put_vectors(self, request: VectorsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        if request.lease_holder:
            self._leases.require(request.workspace, request.vectors.space_id, request.lease_holder)
        operation = over_sqlite(put_vectors, request=request)
        return await asyncio.wrap_future(self._writer.submit(operation))

    async def put_windows(self, request: WindowsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        if request.lease_holder:
            self._leases.require(request.workspace, request.space_id, request.lease_holder)
        operation = over_sqlite(put_windows, request=request)
        return await asyncio.wrap_future(self._writer.submit(operation))

    async def switch_space(
        self, workspace: str, space_id: str, *, require_complete: bool
    ) -> SpaceSwitch:
        """See `RetrievalEngine`."""
        operation = over_sqlite(
            switch_space, slug=workspace, space_id=space_id, require_complete=require_complete
        )
        return await asyncio.wrap_future(self._writer.submit(operation))

    async def drop_space(
        self, workspace: str, space_id: str, *, leave_waiting: bool = False
    ) -> SpaceRemoval:
        """See `RetrievalEngine`."""
        operation = over_sqlite(
            drop_space_part,
            slug=workspace,
            space_id=space_id,
            row_limit=_DROPPED_ROWS,
            leave_waiting=leave_waiting,
        )
        total = 0
        while True:
            part = await asyncio.wrap_future(self._writer.submit(operation, removing=True))
            total += part.vector_count
            if part.vector_count < _DROPPED_ROWS:
                return replace(part, vector_count=total)

    async def search_passages(self, request: SearchRequest) -> SearchResult:
        """See `RetrievalEngine`."""
        result = await asyncio.wrap_future(self._worker.submit(PublishedState.search, request))
        if not request.highlight:
            return result
        # Away from the search thread: other searches need not wait for texts to be analysed.
        return await asyncio.wrap_future(self._reading.submit(highlighted, result, request))

    async def explain_passages(self, request: ExplanationRequest) -> Explanation:
        """See `RetrievalEngine`."""
        return await asyncio.wrap_future(self._worker.submit(PublishedState.explain, request))

    async def _updated(self, update: Callable[[Connection], WorkspaceRow]) -> Workspace:
        def operation(connection: Connection) -> tuple[str, Change]:
            row = update(connection)
            return row.slug, WorkspaceUpdated(row)

        return await self.describe_workspace(
            await asyncio.wrap_future(self._writer.submit(operation))
        )
