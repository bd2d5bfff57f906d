"""Workspaces and the documents in them."""

from __future__ import annotations

from dataclasses import replace

import structlog

from chassis.errors import InvalidArgument, ServiceError
from gateway.access.call_access import mandatory_filter, require_workspace, sees_workspace
from gateway.access.permitted_documents import PermittedDocuments
from gateway.documents import DocumentDeletion, DocumentPage, SourceDeletion, StoredDocument
from gateway.glossary.board import GlossaryBoard
from gateway.ingestion_ports import Ingestion
from gateway.known_workspaces import KnownWorkspaces
from gateway.ports import Retriever
from gateway.presets.presets import preset_named
from gateway.query_vectors import QueryVectors
from gateway.switches.editing import SwitchEditing
from gateway.validation import (
    MAX_PAGE_SIZE,
    check_document_name,
    check_fusion,
    check_page,
    check_preset,
    check_slug,
)
from gateway.workspaces import Workspace, WorkspaceDeletion, WorkspaceSettings, WorkspaceUpdate

_log = structlog.get_logger("gateway.catalogue")

_ORIGINALS_TIMEOUT_S = 10.0


class Catalogue:
    """Keeps workspaces and documents in the retriever, and the gateway's memory true to them."""

    def __init__(
        self,
        retriever: Retriever,
        ingestion: Ingestion,
        known: KnownWorkspaces,
        vectors: QueryVectors,
        glossaries: GlossaryBoard,
        switches: SwitchEditing,
    ) -> None:
        self._retriever = retriever
        self._documents = PermittedDocuments(retriever)
        self._ingestion = ingestion
        self._known = known
        self._vectors = vectors
        self._glossaries = glossaries
        self._switches = switches

    async def create_workspace(self, slug: str, settings: WorkspaceSettings) -> Workspace:
        """Creates a workspace; AlreadyExists where the slug is taken.

        Its preset chooses how documents are cut, unless the settings do.
        """
        require_workspace(slug)
        check_slug(slug)
        check_preset(settings.preset)
        profile = settings.chunking_profile or preset_named(settings.preset).chunking_profile
        settings = replace(settings, chunking_profile=profile)
        check_fusion(settings.fusion, "settings.fusion")
        workspace = await self._retriever.create_workspace(slug, settings)
        self._known.forget(slug)
        return workspace

    def forget_earlier(self, slug: str) -> None:
        """Forgets what is remembered of an earlier workspace of a slug that a new one has got."""
        self._known.forget(slug)

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        """Lists those workspaces by slug that are there for the call."""
        workspaces = await self._retriever.list_workspaces()
        return tuple(each for each in workspaces if sees_workspace(each.slug))

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
        """Deletes a workspace with all it holds; NotFound where there is none.

        Kept files that cannot be deleted now are told of, and are no error. A glossary, or
        overrides of switches, that cannot be deleted are: Unavailable, and the workspace stays
        whole, since another one of its slug would come into them.
        """
        check_slug(slug)
        await self._retriever.describe_workspace(slug)
        await self._glossaries.clear(slug)
        await self._switches.forget_workspace(slug)
        deletion = await self._retriever.delete_workspace(slug)
        await self._clear_late_entries(slug)
        self._known.forget(slug)
        self._vectors.forget_workspace(slug)
        count, failure = await self._delete_originals(slug)
        return replace(deletion, original_count=count, original_failure=failure)

    async def get_document(self, workspace: str, external_id: str) -> StoredDocument:
        """Reads one document with its passages; NotFound where there is none."""
        check_document_name(workspace, external_id)
        return await self._documents.read(workspace, external_id, include_passages=True)

    async def list_documents(
        self, workspace: str, page_size: int = 0, page_token: str = ""
    ) -> DocumentPage:
        """Lists documents by external id; `page_size` 0 means 50."""
        check_page(workspace, page_size)
        bound = mandatory_filter(workspace)
        if bound is not None:
            return await self._retriever.find_documents(workspace, bound, page_size, page_token)
        return await self._retriever.list_documents(workspace, page_size, page_token)

    async def delete_document(self, workspace: str, external_id: str) -> DocumentDeletion:
        """Deletes one document; a missing document is no error.

        Kept files that cannot be deleted now are told of, and are no error either.
        """
        check_document_name(workspace, external_id)
        if not await self._documents.sees(workspace, external_id):
            return DocumentDeletion(deleted=False, passage_count=0)
        deletion = await self._retriever.delete_document(workspace, external_id)
        count, failure = await self._delete_originals(workspace, external_id)
        return replace(deletion, original_count=count, original_failure=failure)

    async def delete_source(self, workspace: str, source_uri: str) -> SourceDeletion:
        """Deletes the documents of one source, one after the other.

        InvalidArgument: no source named. NotFound: no such workspace.
        """
        check_slug(workspace, "workspace")
        if not source_uri.strip():
            raise InvalidArgument("source_uri is empty; name a source", field="source_uri")
        found = []
        page_token = ""
        while True:
            page = await self._retriever.list_documents(workspace, MAX_PAGE_SIZE, page_token)
            found += [
                stored.document.external_id
                for stored in page.documents
                if stored.document.source_uri == source_uri
            ]
            page_token = page.next_page_token
            if not page_token:
                break
        deletions = {
            external_id: await self.delete_document(workspace, external_id) for external_id in found
        }
        return SourceDeletion({name: one for name, one in deletions.items() if one.deleted})

    async def _clear_late_entries(self, slug: str) -> None:
        """Deletes what came into the glossary of a workspace while that was deleted."""
        try:
            await self._glossaries.clear(slug)
        except ServiceError as error:
            _log.warning("glossary not cleared again", workspace=slug, reason=error.reason)

    async def _delete_originals(self, workspace: str, external_id: str = "") -> tuple[int, str]:
        """Returns how many kept files were deleted, and why some may still be there."""
        try:
            count = await self._ingestion.delete_originals(
                workspace, external_id, timeout=_ORIGINALS_TIMEOUT_S
            )
        except ServiceError as error:
            _log.warning("originals not deleted", workspace=workspace, reason=error.reason)
            return 0, str(error)
        return count, ""
