"""What the ingestion role asks of the retriever; the retriever's client is one implementation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gateway.documents import (
    Document,
    DocumentPage,
    Passage,
    StoredDocument,
    UpsertReport,
    VectorBlock,
)
from gateway.ports import PassageIndex, SpaceStore
from gateway.workspaces import Workspace


class PassageStore(SpaceStore, PassageIndex, Protocol):
    """What the ingestion role asks of the retriever."""

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Lists all workspaces by slug."""
        ...

    async def describe_workspace(self, slug: str, *, timeout: float | None = None) -> Workspace:
        """Describes one workspace; NotFound where there is none."""
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

    async def upsert_document(
        self,
        workspace: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: Sequence[VectorBlock] = (),
        *,
        timeout: float | None = None,
    ) -> UpsertReport:
        """Stores one document in one step; committed and searchable once this returns."""
        ...
