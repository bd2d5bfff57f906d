"""Single documents, as far as they are there for the grant of a call.

A document outside of the grant's filter is one that does not exist: same answer, after the same
reading. Only its id is taken: who writes to it is refused.
"""

from __future__ import annotations

from chassis.errors import NotFound, PermissionDenied
from gateway.access.call_access import mandatory_filter
from gateway.documents import Document, StoredDocument
from gateway.filter_matching import fulfils
from gateway.filters import Filter
from gateway.incoming_files import IncomingFile
from gateway.ports import DocumentStore


class PermittedDocuments:
    """Reads documents for calls, and says which ones a call may write."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store

    async def read(
        self,
        workspace: str,
        external_id: str,
        include_passages: bool = False,
        *,
        timeout: float | None = None,
    ) -> StoredDocument:
        """Reads one document; NotFound where it is not there for this call."""
        bound = mandatory_filter(workspace)
        if bound is not None:
            # First without its passages, which take longer: time would tell what the answer hides.
            found = await self._permitted(workspace, external_id, bound, False, timeout)
            return (
                await self._permitted(workspace, external_id, bound, True, timeout)
                if include_passages
                else found
            )
        return await self._store.get_document(
            workspace, external_id, include_passages, timeout=timeout
        )

    async def _permitted(
        self,
        workspace: str,
        external_id: str,
        bound: Filter,
        include_passages: bool,
        timeout: float | None,
    ) -> StoredDocument:
        try:
            found = await self._store.get_document(
                workspace, external_id, include_passages, timeout=timeout
            )
        except NotFound as error:
            if error.reason == _DOCUMENT_NOT_FOUND:
                raise unseen_document(workspace, external_id) from error
            raise
        if not fulfils(found.document, bound):
            raise unseen_document(workspace, external_id)
        return found

    async def sees(self, workspace: str, external_id: str) -> bool:
        """Whether the document is there for this call; True where nothing bounds it."""
        if mandatory_filter(workspace) is None:
            return True
        try:
            await self.read(workspace, external_id)
        except NotFound as error:
            if error.reason == _DOCUMENT_NOT_FOUND:
                return False
            raise
        return True

    async def check_upload(self, file: IncomingFile) -> None:
        """Raises PermissionDenied where the file would come, or replace what is, outside the grant.

        What the filter asks for must be said with the file: what stands in it is read later.
        """
        bound = mandatory_filter(file.workspace)
        if bound is None:
            return
        if not fulfils(_described(file), bound):
            raise PermissionDenied(
                "this key may only write documents that fulfil the filter of its grant; say so in "
                "the metadata or the other fields sent with the file",
                reason="OUTSIDE_GRANT",
            )
        if file.keep_previous:
            # What is kept gets an id that is made up, which may be that of a hidden document.
            raise PermissionDenied(
                "keep_previous needs a grant without a filter", reason="OUTSIDE_GRANT"
            )
        try:
            there = await self._store.get_document(file.workspace, file.document_id)
        except NotFound as error:
            if error.reason == _DOCUMENT_NOT_FOUND:
                return
            raise
        if not fulfils(there.document, bound):
            raise PermissionDenied(
                f"this key may not write document {file.document_id!r}; choose another id",
                reason="OUTSIDE_GRANT",
            )


_DOCUMENT_NOT_FOUND = "DOCUMENT_NOT_FOUND"


def unseen_document(workspace: str, external_id: str) -> NotFound:
    """Returns the error for a document that is not there, or not for this caller."""
    return NotFound(
        f"no document {external_id!r} in workspace {workspace!r}", reason=_DOCUMENT_NOT_FOUND
    )


def _described(file: IncomingFile) -> Document:
    return Document(
        file.document_id,
        category=file.category,
        language=file.language,
        metadata=file.metadata,
        version=file.version,
        valid_from=file.valid_from,
        valid_until=file.valid_until,
        superseded=file.superseded,
    )
