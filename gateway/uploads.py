"""Hands files to the ingestion role as they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext

from chassis.errors import InvalidArgument, ResourceExhausted
from gateway.access.call_access import require_workspace
from gateway.access.permitted_documents import PermittedDocuments, unseen_document
from gateway.admission.admission import Admission
from gateway.incoming_files import IncomingFile, IngestionReport
from gateway.ingestion_ports import Ingestion
from gateway.validation import check_document_name, check_incoming_file, check_slug

MAX_FILE_BYTES = 100 * 1024 * 1024


class Uploads:
    """Checks files and passes them on, at most `max_bytes` each, never held in memory whole."""

    def __init__(
        self,
        ingestion: Ingestion,
        documents: PermittedDocuments | None = None,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        admission: Admission | None = None,
    ) -> None:
        """Takes what bounds single callers, and all of them; None in the mesh's own processes."""
        self._admission = admission
        self._ingestion = ingestion
        self._documents = documents
        self._max_bytes = max_bytes

    async def take_in(self, file: IncomingFile, content: AsyncIterator[bytes]) -> IngestionReport:
        """Takes one file in; it is searchable once this returns.

        InvalidArgument: no workspace or file name, another number of bytes than announced.
        ResourceExhausted: the file is too large, or too many come. PermissionDenied: the document
        lies outside of what the call may write. Other refusals are those of the ingestion role.
        """
        require_workspace(file.workspace)
        check_incoming_file(file)
        if self._documents is not None:
            await self._documents.check_upload(file)
        content = checked_content(file, content, self._max_bytes)
        async with self._place_for(file.workspace):
            return await self._ingestion.ingest_document(file, content)

    async def rechunk(self, workspace: str, external_id: str) -> IngestionReport:
        """Takes the kept file of a document in again, as its workspace is set now."""
        check_document_name(workspace, external_id)
        if self._documents and not await self._documents.sees(workspace, external_id):
            raise unseen_document(workspace, external_id)
        async with self._place_for(workspace):
            return await self._ingestion.rechunk_document(workspace, external_id)

    async def delete_originals(self, workspace: str, external_id: str = "") -> int:
        """Deletes the kept files of a document, or of a workspace, that is gone."""
        check_slug(workspace, "workspace")
        return await self._ingestion.delete_originals(workspace, external_id)

    def _place_for(self, workspace: str) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._admission is None else self._admission.place_for(workspace)


async def checked_content(
    file: IncomingFile, content: AsyncIterator[bytes], max_bytes: int
) -> AsyncIterator[bytes]:
    """Yields the bytes of a file as they come.

    ResourceExhausted: more than `max_bytes`. InvalidArgument: at the end, another number of bytes
    than was announced.
    """
    length = 0
    async for chunk in content:
        length += len(chunk)
        if length > max_bytes:
            raise ResourceExhausted(
                f"the file is over {max_bytes} bytes; split it", reason="FILE_TOO_LARGE"
            )
        yield chunk
    if file.byte_count not in {None, length}:
        raise InvalidArgument(
            f"{length} bytes of {file.file_name!r} arrived, {file.byte_count} were announced; "
            "send the file again",
            field="header.byte_count",
            reason="INCOMPLETE_UPLOAD",
        )
