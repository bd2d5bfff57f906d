"""The engine seam: what the services of this package need from whatever stores and searches.

Errors are those of `chassis.errors`: NotFound for a workspace or document that is not there,
InvalidArgument for vectors that do not fit, ResourceExhausted where nothing more can be stored.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

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
from retriever_svc.transfers.workspace_copy import WorkspaceCopy
from retriever_svc.workspaces import (
    Workspace,
    WorkspaceRemoval,
    WorkspaceSettings,
    WorkspaceUpdate,
)


class RetrievalEngine(Protocol):
    """Stores documents and finds passages.

    A change has reached the disk, and every search that starts afterwards sees it, when its
    coroutine returns. Nothing crosses workspaces.
    """

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """Creates a workspace. Raises AlreadyExists."""
        ...

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """Returns all workspaces ordered by slug."""
        ...

    async def describe_workspace(self, slug: str) -> Workspace:
        """Returns one workspace. Raises NotFound."""
        ...

    async def update_workspace(self, update: WorkspaceUpdate) -> Workspace:
        """Changes settings of a workspace; its `applied_seq` stays. Raises NotFound."""
        ...

    async def delete_workspace(self, slug: str) -> WorkspaceRemoval:
        """Deletes a workspace with all it holds; its slug is free again. Raises NotFound."""
        ...

    async def rename_workspace(self, slug: str, new_slug: str) -> Workspace:
        """Gives a workspace another slug, under which alone it is found from then on.

        Raises NotFound, and AlreadyExists where the new slug is taken.
        """
        ...

    def copy_workspace(self, slug: str) -> AbstractAsyncContextManager[WorkspaceCopy]:
        """Reads one state of a workspace while inside, whatever changes meanwhile.

        Raises NotFound.
        """
        ...

    async def upsert_document(self, upsert: DocumentUpsert) -> UpsertReceipt:
        """Stores a document with its passages and vectors in one step.

        Raises NotFound, InvalidArgument naming the passage whose vector does not fit, and
        ResourceExhausted when the disk is full; nothing is changed then.
        """
        ...

    async def delete_document(self, workspace: str, external_id: str) -> DocumentRemoval:
        """Deletes a document; one that is not there is no error. Raises NotFound (workspace)."""
        ...

    async def get_document(
        self, workspace: str, external_id: str, *, include_passages: bool
    ) -> StoredDocument:
        """Reads a document. Raises NotFound."""
        ...

    async def list_documents(
        self, workspace: str, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """Lists documents whose external id follows `after`. Raises NotFound."""
        ...

    async def find_documents(
        self, workspace: str, condition: Filter, *, page_size: int, after: str | None
    ) -> DocumentPage:
        """Lists and counts the documents that fulfil a condition, as `list_documents` does."""
        ...

    async def read_parents(self, workspace: str, passage_ids: Sequence[int]) -> list[Parent]:
        """Reads the blocks that passages are parts of, in their order; others are left out.

        Raises NotFound (workspace).
        """
        ...

    async def list_passages_awaiting(
        self,
        workspace: str,
        space_id: str,
        *,
        windows: bool = False,
        page_size: int,
        after: int | None,
    ) -> AwaitingPage:
        """Lists passages with ids over `after` that a space lacks, counted where `after` is None.

        With `windows` those that have a vector in the space and await its windows. Raises NotFound
        (workspace).
        """
        ...

    async def lease_space(
        self, workspace: str, space_id: str, holder: str, duration_s: float
    ) -> SpaceLease:
        """Grants or prolongs the lease of the work on a space. Raises NotFound (workspace)."""
        ...

    async def put_vectors(self, request: VectorsPutRequest) -> VectorsPutReceipt:
        """Stores vectors of stored passages in one step.

        Raises NotFound (workspace), InvalidArgument, FailedPrecondition for a lease that is not
        held and for vectors of another model, and ResourceExhausted when the disk is full.
        """
        ...

    async def put_windows(self, request: WindowsPutRequest) -> VectorsPutReceipt:
        """Stores windows of passages that have a vector in the space, in one step.

        A passage whose windows came before gets these instead. Raises as `put_vectors`.
        """
        ...

    async def switch_space(
        self, workspace: str, space_id: str, *, require_complete: bool
    ) -> SpaceSwitch:
        """Makes a space the preferred one. Raises NotFound and FailedPrecondition (incomplete)."""
        ...

    async def drop_space(
        self, workspace: str, space_id: str, *, leave_waiting: bool = False
    ) -> SpaceRemoval:
        """Deletes the vectors of a space; one that is not there is no error.

        Raises NotFound (workspace), and FailedPrecondition for the preferred space and, without
        `leave_waiting`, for one with passages that the preferred space lacks. What was deleted
        before a failure stays deleted.
        """
        ...

    async def search_passages(self, request: SearchRequest) -> SearchResult:
        """Finds passages. Raises NotFound, and InvalidArgument for vectors that do not fit."""
        ...

    async def explain_passages(self, request: ExplanationRequest) -> Explanation:
        """Says what a search did with expected passages.

        Raises NotFound for the workspace, document or passage, InvalidArgument as a search.
        """
        ...
