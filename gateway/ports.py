"""What the gateway asks of the other services.

Clients over gRPC are one implementation. Every method raises a `ServiceError` when the service
refuses, fails or is lost. `timeout` is in seconds; None leaves the caller's deadline alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gateway.documents import (
    Document,
    DocumentDeletion,
    DocumentPage,
    Parent,
    Passage,
    StoredDocument,
    UpsertReport,
    VectorBlock,
)
from gateway.embedding import EmbeddedTexts, EmbeddingPurpose, Provider
from gateway.explanations import DocumentStandings
from gateway.filters import Filter
from gateway.glossary.entry import NO_ENTRIES, MatchingEntries
from gateway.reranking import Candidate, Ranking
from gateway.rewriting import ConversationTurn, Rewrite
from gateway.searching import FusedHits, PassageSearch
from gateway.spaces import (
    AwaitingPage,
    PassageVectorsPut,
    PassageWindowsPut,
    PutReport,
    SpaceDrop,
    SpaceLease,
    SpaceSwitch,
)
from gateway.transfer_ports import Transfers
from gateway.workspaces import Workspace, WorkspaceDeletion, WorkspaceSettings, WorkspaceUpdate


class Rewriter(Protocol):
    """Words questions so that they find."""

    async def rewrite(
        self,
        query: str,
        *,
        workspace: str,
        language: str = "",
        history: Sequence[ConversationTurn] = (),
        glossary: MatchingEntries = NO_ENTRIES,
        timeout: float | None = None,
    ) -> Rewrite:
        """Rewrites one query; a model that fails is no error, its report says so."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        space_id: str | None = None,
        workspace: str = "",
        *,
        accept_failures: bool = False,
        canaries: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> EmbeddedTexts:
        """Embeds 1 to 256 texts; without `space_id` the first available provider decides.

        With `accept_failures` a text that the provider cannot embed is named in the answer; else
        it is an InvalidArgument. `canaries`, by space id, are those kept with the spaces that may
        answer: a provider whose model is another by now is passed over, or a FailedPrecondition
        where its space was asked for.
        """
        ...

    async def describe_providers(self, *, timeout: float | None = None) -> tuple[Provider, ...]:
        """Describes the configured providers in chain order."""
        ...


class WorkspaceStore(Protocol):
    """Keeps workspaces."""

    async def create_workspace(
        self, slug: str, settings: WorkspaceSettings, *, timeout: float | None = None
    ) -> Workspace:
        """Creates a workspace; AlreadyExists where the slug is taken."""
        ...

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Lists all workspaces by slug."""
        ...

    async def describe_workspace(self, slug: str, *, timeout: float | None = None) -> Workspace:
        """Describes one workspace; NotFound where there is none."""
        ...

    async def update_workspace(
        self, update: WorkspaceUpdate, *, timeout: float | None = None
    ) -> Workspace:
        """Changes settings of a workspace; NotFound where there is none."""
        ...

    async def delete_workspace(
        self, slug: str, *, timeout: float | None = None
    ) -> WorkspaceDeletion:
        """Deletes a workspace with all it holds; NotFound where there is none."""
        ...


class DocumentStore(Protocol):
    """Keeps documents."""

    async def upsert_document(
        self,
        workspace: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: Sequence[VectorBlock] = (),
        *,
        timeout: float | None = None,
    ) -> UpsertReport:
        """Stores one document in one step; committed and searchable once this returns.

        A passage without vectors keeps those that a passage of equal `embedded_text_hash` of the
        document had before.
        """
        ...

    async def get_document(
        self,
        workspace: str,
        external_id: str,
        include_passages: bool = False,
        *,
        timeout: float | None = None,
    ) -> StoredDocument:
        """Reads one document; NotFound where there is no such workspace or document."""
        ...

    async def list_documents(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Lists documents by external id; `page_size` 0 means 50, at most 500."""
        ...

    async def delete_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> DocumentDeletion:
        """Deletes one document; a missing document is no error."""
        ...


class SpaceStore(Protocol):
    """Moves passages from one vector space of a workspace to another."""

    async def lease_space(
        self,
        workspace: str,
        space_id: str,
        holder: str,
        duration_s: float,
        *,
        timeout: float | None = None,
    ) -> SpaceLease:
        """Asks for, prolongs, or (with 0 seconds) gives back the work on a space."""
        ...

    async def list_passages_awaiting(
        self,
        workspace: str,
        space_id: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        windows: bool = False,
        timeout: float | None = None,
    ) -> AwaitingPage:
        """Lists passages that a space lacks, in pages; `page_size` 0 means 100, at most 500.

        With `windows`, those that have a vector in the space and await its windows.
        """
        ...

    async def put_vectors(
        self, workspace: str, put: PassageVectorsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Stores vectors of stored passages in one step; repeating it changes nothing.

        FailedPrecondition where the lease is not held, or the model is another by now.
        """
        ...

    async def put_windows(
        self, workspace: str, put: PassageWindowsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Stores windows of stored passages in one step; repeating it changes nothing."""
        ...

    async def switch_space(
        self,
        workspace: str,
        space_id: str,
        *,
        require_complete: bool = False,
        timeout: float | None = None,
    ) -> SpaceSwitch:
        """Makes a space the preferred one, in one step.

        NotFound where the workspace does not hold it, FailedPrecondition where it must be complete
        and lacks passages.
        """
        ...

    async def drop_space(
        self,
        workspace: str,
        space_id: str,
        *,
        leave_waiting: bool = False,
        timeout: float | None = None,
    ) -> SpaceDrop:
        """Deletes the vectors of a space; one that is not there is no error.

        FailedPrecondition for the preferred space and, without `leave_waiting`, for one with
        passages that the preferred space lacks.
        """
        ...


class PassageIndex(Protocol):
    """Finds passages."""

    async def read_parents(
        self, workspace: str, passage_ids: Sequence[str], *, timeout: float | None = None
    ) -> Mapping[str, Parent]:
        """Reads the blocks that passages are parts of, by the passage's id.

        Passages that stand alone are left out.
        """
        ...

    async def search_passages(
        self, search: PassageSearch, *, timeout: float | None = None
    ) -> FusedHits:
        """Fuses the lists of one search; NotFound where there is no such workspace."""
        ...

    async def find_documents(
        self,
        workspace: str,
        condition: Filter,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Lists and counts the documents that fulfil a condition, otherwise as `list_documents`."""
        ...

    async def explain_passages(
        self, search: PassageSearch, external_id: str, *, timeout: float | None = None
    ) -> DocumentStandings:
        """Says what a search does with each passage of a document, found ones first.

        NotFound where there is no such workspace or document.
        """
        ...


class Retriever(WorkspaceStore, DocumentStore, SpaceStore, PassageIndex, Transfers, Protocol):
    """Keeps workspaces and documents, moves passages between spaces, finds and copies them."""


class Reranker(Protocol):
    """Sorts candidates by how well they answer."""

    async def rerank(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        workspace: str,
        model_candidate_count: int = 0,
        include_formula_parts: bool = False,
        timeout: float | None = None,
    ) -> Ranking:
        """Sorts at most 200 candidates; 0 leaves the model's share to the service."""
        ...
