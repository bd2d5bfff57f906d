"""The engine over PostgreSQL, which keeps everything, and Milvus, which finds it.

A process keeps nothing of its own: any number of them work on the same store at the same time.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry

from retriever_svc.documents import (
    DocumentPage,
    DocumentRemoval,
    DocumentUpsert,
    Parent,
    StoredDocument,
    UpsertReceipt,
)
from retriever_svc.explanations import Explanation, ExplanationRequest
from retriever_svc.filters import Filter
from retriever_svc.highlights import highlighted
from retriever_svc.milvus.accepted_documents import check_document
from retriever_svc.milvus.copy_reader import opened_copy
from retriever_svc.milvus.engine_parts import open_parts
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.searching.passage_explanation import explain_search
from retriever_svc.milvus.searching.passage_search import search_passages
from retriever_svc.milvus.searching.search_view import described_spaces
from retriever_svc.milvus.store.workspace_rows import find_workspace, read_workspaces
from retriever_svc.searches import SearchRequest, SearchResult
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
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.document_removal import delete_document
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

R = TypeVar("R")
# Few enough to keep other changes of the workspace waiting for a moment only.
_DROPPED_ROWS = 2_000


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MilvusEngine:
    """Implements `RetrievalEngine`."""

    def __init__(
        self,
        settings: MilvusSettings,
        *,
        now: Callable[[], datetime] = _utc_now,
        registry: CollectorRegistry | None = None,
    ) -> None:
        """Connects to the store and brings its tables up to date; Milvus may come later. Blocks.

        Metrics go to `registry`, or nowhere.

        Raises Unavailable where the store does not answer, FailedPrecondition where a newer build
        wrote it.
        """
        self._now = now
        with ExitStack() as stack:
            self._parts = open_parts(
                stack, settings, CollectorRegistry() if registry is None else registry
            )
            self._closing = stack.pop_all()

    def close(self) -> None:
        """Finishes what is under way, then closes everything; blocks."""
        self._closing.close()

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """See `RetrievalEngine`."""
        return described(
            await self._changed(self._parts.changes.create, slug, settings, self._now())
        )

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """See `RetrievalEngine`."""

        def read() -> tuple[Workspace, ...]:
            with self._parts.store.snapshot() as connection:
                rows = read_workspaces(connection)
            return tuple(described(row, described_spaces(row)) for row in rows)

        return await self._read(read)

    async def describe_workspace(self, slug: str) -> Workspace:
        """See `RetrievalEngine`."""

        def read() -> Workspace:
            with self._parts.store.snapshot() as connection:
                row = find_workspace(connection, slug)
            return described(row, described_spaces(row))

        return await self._read(read)

    async def update_workspace(self, update: WorkspaceUpdate) -> Workspace:
        """See `RetrievalEngine`."""
        await self._changed(self._parts.changes.update, update)
        return await self.describe_workspace(update.slug)

    async def delete_workspace(self, slug: str) -> WorkspaceRemoval:
        """See `RetrievalEngine`."""
        gone = await self._changed(self._parts.changes.delete, slug)
        return WorkspaceRemoval(gone.document_count, gone.passage_count)

    async def rename_workspace(self, slug: str, new_slug: str) -> Workspace:
        """See `RetrievalEngine`."""
        await self._changed(self._parts.changes.rename, slug, new_slug)
        return await self.describe_workspace(new_slug)

    def copy_workspace(self, slug: str) -> AbstractAsyncContextManager[WorkspaceCopy]:
        """See `RetrievalEngine`."""
        return copied(partial(opened_copy, self._parts.store, slug))

    async def upsert_document(self, upsert: DocumentUpsert) -> UpsertReceipt:
        """See `RetrievalEngine`."""
        check_document(upsert)
        return await self._made(upsert_document, upsert=upsert, now=self._now())

    async def delete_document(self, workspace: str, external_id: str) -> DocumentRemoval:
        """See `RetrievalEngine`."""
        return await self._made(delete_document, workspace_slug=workspace, external_id=external_id)

    async def get_document(
        self, workspace: str, external_id: str, *, include_passages: bool
    ) -> StoredDocument:
        """See `RetrievalEngine`."""
        read = self._parts.documents.get
        return await self._read(read, workspace, external_id, include_passages=include_passages)

    async def list_documents(
        self, workspace: str, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        read = self._parts.documents.list_page
        return await self._read(read, workspace, page_size=page_size, after=after)

    async def find_documents(
        self, workspace: str, condition: Filter, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        read = partial(self._parts.documents.list_page, condition=condition)
        return await self._read(read, workspace, page_size=page_size, after=after)

    async def read_parents(self, workspace: str, passage_ids: Sequence[int]) -> list[Parent]:
        """See `RetrievalEngine`."""
        return await self._read(self._parts.documents.read_parents, workspace, passage_ids)

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
        read = partial(self._parts.documents.list_awaiting, windows=windows)
        return await self._read(read, workspace, space_id, page_size=page_size, after=after)

    async def lease_space(
        self, workspace: str, space_id: str, holder: str, duration_s: float
    ) -> SpaceLease:
        """See `RetrievalEngine`."""
        lease = self._parts.changes.lease
        return await self._changed(lease, workspace, space_id, holder, duration_s)

    async def put_vectors(self, request: VectorsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        await self._require_lease(request.workspace, request.vectors.space_id, request.lease_holder)
        return await self._made(put_vectors, request=request)

    async def put_windows(self, request: WindowsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        await self._require_lease(request.workspace, request.space_id, request.lease_holder)
        return await self._made(put_windows, request=request)

    async def switch_space(
        self, workspace: str, space_id: str, *, require_complete: bool
    ) -> SpaceSwitch:
        """See `RetrievalEngine`."""
        return await self._made(
            switch_space, slug=workspace, space_id=space_id, require_complete=require_complete
        )

    async def drop_space(
        self, workspace: str, space_id: str, *, leave_waiting: bool = False
    ) -> SpaceRemoval:
        """See `RetrievalEngine`."""
        total = 0
        while True:
            part: SpaceRemoval = await self._made(
                drop_space_part,
                slug=workspace,
                space_id=space_id,
                row_limit=_DROPPED_ROWS,
                leave_waiting=leave_waiting,
            )
            total += part.vector_count
            if part.vector_count < _DROPPED_ROWS:
                return replace(part, vector_count=total)

    async def search_passages(self, request: SearchRequest) -> SearchResult:
        """See `RetrievalEngine`."""

        def search() -> SearchResult:
            started = time.perf_counter()
            result = self._parts.look(
                request.workspace, lambda view: search_passages(view, request, started)
            )
            return highlighted(result, request) if request.highlight else result

        return await self._read(search)

    async def explain_passages(self, request: ExplanationRequest) -> Explanation:
        """See `RetrievalEngine`."""

        def explain() -> Explanation:
            return self._parts.look(
                request.search.workspace, lambda view: explain_search(view, request)
            )

        return await self._read(explain)

    async def _require_lease(self, workspace: str, space_id: str, holder: str) -> None:
        if holder:
            await self._changed(self._parts.changes.require_lease, workspace, space_id, holder)

    async def _made(self, change: Callable[..., tuple[R, DocumentChange]], **kwargs: Any) -> R:
        return await self._changed(lambda: self._parts.changes.make(change, **kwargs))

    async def _changed(self, call: Callable[..., R], *args: Any) -> R:
        return await asyncio.wrap_future(self._parts.writing.submit(call, *args))

    async def _read(self, call: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        return await asyncio.wrap_future(self._parts.reading.submit(partial(call, *args, **kwargs)))
