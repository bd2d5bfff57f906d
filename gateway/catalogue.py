"""Workspaces and the documents in them."""

from __future__ import annotations

from gateway.documents import DocumentDeletion, DocumentPage, StoredDocument
from gateway.known_workspaces import KnownWorkspaces
from gateway.ports import Retriever
from gateway.query_vectors import QueryVectors
from gateway.validation import (
    check_document_name,
    check_fusion,
    check_page,
    check_preset,
    check_slug,
)
from gateway.workspaces import Workspace, WorkspaceDeletion, WorkspaceSettings, WorkspaceUpdate


class Catalogue:
    """Keeps workspaces and documents in the retriever, and the gateway's memory true to them."""

    def __init__(self, retriever: Retriever, known: KnownWorkspaces, vectors: QueryVectors) -> None:
        self._retriever = retriever
        self._known = known
        self._vectors = vectors

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """Creates a workspace; AlreadyExists where the slug is taken."""
        check_slug(slug)
        check_preset(settings.preset)
        check_fusion(settings.fusion, "settings.fusion")
        workspace = await self._retriever.create_workspace(slug, settings)
        self._known.forget(slug)
        return workspace

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """Lists all workspaces by slug."""
        return await self._retriever.list_workspaces()

    async def describe_workspace(self, slug: str) -> Workspace:
        """Describes one workspace; NotFound where there is none."""
        check_slug(slug)
        return await self._retriever.describe_workspace(slug)

    async def update_workspace(self, update: WorkspaceUpdate) -> Workspace:
        """Changes settings of a workspace; NotFound where there is none."""
        check_slug(update.slug)
        check_fusion(update.fusion, "fusion")
        return await self._retriever.update_workspace(update)

    async def delete_workspace(self, slug: str) -> WorkspaceDeletion:
        """Deletes a workspace with all it holds; NotFound where there is none."""
        check_slug(slug)
        deletion = await self._retriever.delete_workspace(slug)
        self._known.forget(slug)
        self._vectors.forget_workspace(slug)
        return deletion

    async def get_document(self, workspace: str, external_id: str) -> StoredDocument:
        """Reads one document with its passages; NotFound where there is none."""
        check_document_name(workspace, external_id)
        return await self._retriever.get_document(workspace, external_id, include_passages=True)

    async def list_documents(
        self, workspace: str, page_size: int = 0, page_token: str = ""
    ) -> DocumentPage:
        """Lists documents by external id; `page_size` 0 means 50."""
        check_page(workspace, page_size)
        return await self._retriever.list_documents(workspace, page_size, page_token)

    async def delete_document(self, workspace: str, external_id: str) -> DocumentDeletion:
        """Deletes one document; a missing document is no error."""
        check_document_name(workspace, external_id)
        return await self._retriever.delete_document(workspace, external_id)
