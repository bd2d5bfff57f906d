"""The plain engine itself. It keeps nothing: what it holds goes with it."""

import copy
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from itertools import count

from chassis.errors import AlreadyExists, NotFound
from retriever_svc.documents import (
    DocumentPage,
    DocumentRemoval,
    DocumentUpsert,
    Parent,
    StoredDocument,
    StoredPassage,
    UpsertReceipt,
)
from retriever_svc.explanations import Explanation, ExplanationRequest
from retriever_svc.filters import Filter, fulfils
from retriever_svc.highlights import highlighted
from retriever_svc.searches import SearchRequest, SearchResult
from retriever_svc.space_leases import SpaceLeases
from retriever_svc.spaces import (
    AwaitingPage,
    AwaitingPassage,
    SpaceLease,
    SpaceRemoval,
    SpaceSwitch,
    VectorsPutReceipt,
    VectorsPutRequest,
    WindowsPutRequest,
)
from retriever_svc.transfers.workspace_copy import WorkspaceCopy
from retriever_svc.workspaces import (
    Workspace,
    WorkspaceRemoval,
    WorkspaceSettings,
    WorkspaceUpdate,
)
from tests.fakes.plain_engine.plain_changes import PlainChange
from tests.fakes.plain_engine.plain_copy import plain_copy
from tests.fakes.plain_engine.plain_explanation import explain
from tests.fakes.plain_engine.plain_search import PlainSearch
from tests.fakes.plain_engine.plain_workspace import PlainWorkspace, read_form


def _utc_now() -> datetime:
    return datetime.now(UTC)


class PlainEngine:
    """Implements `RetrievalEngine` without an index."""

    def __init__(self, now: Callable[[], datetime] = _utc_now) -> None:
        self._now = now
        self._workspaces: dict[str, PlainWorkspace] = {}
        self._leases = SpaceLeases()
        self._ids = count(1)

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """See `RetrievalEngine`."""
        if slug in self._workspaces:
            raise AlreadyExists(f"workspace {slug!r} exists", reason="WORKSPACE_EXISTS")
        self._workspaces[slug] = PlainWorkspace(slug, settings, self._now())
        return self._workspaces[slug].described()

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """See `RetrievalEngine`."""
        return tuple(self._workspaces[slug].described() for slug in sorted(self._workspaces))

    async def describe_workspace(self, slug: str) -> Workspace:
        """See `RetrievalEngine`."""
        return self._workspace(slug).described()

    async def update_workspace(self, update: WorkspaceUpdate) -> Workspace:
        """See `RetrievalEngine`."""
        workspace = self._workspace(update.slug)
        workspace.settings = update.applied_to(workspace.settings)
        return workspace.described()

    async def delete_workspace(self, slug: str) -> WorkspaceRemoval:
        """See `RetrievalEngine`."""
        gone = self._workspace(slug)
        del self._workspaces[slug]
        return WorkspaceRemoval(len(gone.documents), len(gone.passages))

    async def rename_workspace(self, slug: str, new_slug: str) -> Workspace:
        """See `RetrievalEngine`."""
        renamed = self._workspace(slug)
        if new_slug in self._workspaces:
            raise AlreadyExists(f"workspace {new_slug!r} exists", reason="WORKSPACE_EXISTS")
        renamed.slug = new_slug
        self._workspaces[new_slug] = self._workspaces.pop(slug)
        return renamed.described()

    @asynccontextmanager
    async def copy_workspace(self, slug: str) -> AsyncIterator[WorkspaceCopy]:
        """See `RetrievalEngine`."""
        yield plain_copy(copy.deepcopy(self._workspace(slug)))

    async def upsert_document(self, upsert: DocumentUpsert) -> UpsertReceipt:
        """See `RetrievalEngine`."""
        with self._changing(upsert.workspace) as change:
            return change.upsert(upsert, self._now())

    async def delete_document(self, workspace: str, external_id: str) -> DocumentRemoval:
        """See `RetrievalEngine`."""
        with self._changing(workspace) as change:
            return change.delete(external_id)

    async def get_document(
        self, workspace: str, external_id: str, *, include_passages: bool
    ) -> StoredDocument:
        """See `RetrievalEngine`."""
        found = self._workspace(workspace)
        document = found.document(external_id)
        passages = found.passages_of(external_id)
        return StoredDocument(
            document.document,
            len(passages),
            document.updated_at,
            tuple(
                StoredPassage(
                    one.passage_id,
                    read_form(one.passage),
                    found.spaces_of(one),
                    found.sliced_spaces_of(one),
                )
                for one in passages
                if include_passages
            ),
            sum(not one.vectors for one in passages),
        )

    async def list_documents(
        self, workspace: str, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        documents = self._workspace(workspace).documents
        ids = [one for one in sorted(documents) if after is None or one > after]
        page = ids[:page_size]
        listed = [await self.get_document(workspace, one, include_passages=False) for one in page]
        more = len(ids) > page_size
        return DocumentPage(tuple(listed), page[-1] if more else None, len(documents))

    async def find_documents(
        self, workspace: str, condition: Filter, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """See `RetrievalEngine`."""
        page = await self.list_documents(workspace, page_size=2**31, after=None)
        fitting = [one for one in page.documents if fulfils(one.document, condition)]
        following = [one for one in fitting if after is None or one.document.external_id > after]
        shown = following[:page_size]
        more = len(following) > page_size
        return DocumentPage(
            tuple(shown), shown[-1].document.external_id if more else None, len(fitting)
        )

    async def read_parents(self, workspace: str, passage_ids: Sequence[int]) -> list[Parent]:
        """See `RetrievalEngine`."""
        found = self._workspace(workspace)
        parents = []
        for passage_id in passage_ids:
            passage = found.passages.get(passage_id)
            if passage is None or (block := passage.passage.parent) is None:
                continue
            first, size = block.first_chunk_index, block.passage_count
            text = ""
            for one in found.passages_of(passage.external_id)[first : first + size]:
                gap = one.passage.parent.gap if text and one.passage.parent else ""
                text += gap + one.passage.text
            parents.append(Parent(passage_id, text, first, size))
        return parents

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
        found = self._workspace(workspace)
        lacking = [
            one
            for one in found.passages.values()
            if (
                space_id in one.vectors and one.vectors[space_id].windows is None
                if windows
                else space_id not in one.vectors
            )
        ]
        rest = [one for one in lacking if one.passage_id > (after or 0)]
        page = rest[:page_size]
        return AwaitingPage(
            tuple(
                AwaitingPassage(
                    one.passage_id,
                    read_form(one.passage),
                    found.document(one.external_id).document.title,
                    found.spaces_of(one),
                )
                for one in page
            ),
            page[-1].passage_id if len(rest) > page_size else None,
            len(lacking) if after is None else 0,
            sum(one.passage.token_estimate for one in lacking) if after is None else 0,
        )

    async def lease_space(
        self, workspace: str, space_id: str, holder: str, duration_s: float
    ) -> SpaceLease:
        """See `RetrievalEngine`."""
        self._workspace(workspace)
        return self._leases.lease(workspace, space_id, holder, duration_s)

    async def put_vectors(self, request: VectorsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        if request.lease_holder:
            self._leases.require(request.workspace, request.vectors.space_id, request.lease_holder)
        with self._changing(request.workspace) as change:
            return change.put_vectors(request)

    async def put_windows(self, request: WindowsPutRequest) -> VectorsPutReceipt:
        """See `RetrievalEngine`."""
        if request.lease_holder:
            self._leases.require(request.workspace, request.space_id, request.lease_holder)
        with self._changing(request.workspace) as change:
            return change.put_windows(request)

    async def switch_space(
        self, workspace: str, space_id: str, *, require_complete: bool
    ) -> SpaceSwitch:
        """See `RetrievalEngine`."""
        with self._changing(workspace) as change:
            return change.switch(space_id, require_complete=require_complete)

    async def drop_space(
        self, workspace: str, space_id: str, *, leave_waiting: bool = False
    ) -> SpaceRemoval:
        """See `RetrievalEngine`."""
        with self._changing(workspace) as change:
            return change.drop(space_id, leave_waiting=leave_waiting)

    async def search_passages(self, request: SearchRequest) -> SearchResult:
        """See `RetrievalEngine`."""
        result = PlainSearch(self._workspace(request.workspace), request).result()
        return highlighted(result, request) if request.highlight else result

    async def explain_passages(self, request: ExplanationRequest) -> Explanation:
        """See `RetrievalEngine`."""
        return explain(self._workspace(request.search.workspace), request)

    def _workspace(self, slug: str) -> PlainWorkspace:
        if slug not in self._workspaces:
            raise NotFound(f"there is no workspace {slug!r}", reason="WORKSPACE_NOT_FOUND")
        return self._workspaces[slug]

    @contextmanager
    def _changing(self, slug: str) -> Iterator[PlainChange]:
        """Gives a change of a copy, which takes the workspace's place unless it raises."""
        changed = copy.deepcopy(self._workspace(slug))
        yield PlainChange(changed, lambda: next(self._ids))
        self._workspaces[slug] = changed
