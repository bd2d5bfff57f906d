"""What the gateway's query role asks of its ingestion role, under the rules of `gateway.ports`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from gateway.document_jobs import DocumentJob, DocumentJobPage, SubmittedFile
from gateway.incoming_files import IncomingFile, IngestionReport


class Ingestion(Protocol):
    """Takes files in."""

    async def ingest_document(
        self, file: IncomingFile, content: AsyncIterator[bytes], *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes one file in; committed and searchable once this returns.

        `content` yields the bytes in order; it is asked for more only as fast as they are taken.
        """
        ...

    async def rechunk_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes the kept file of a document in again; NotFound where it was not kept."""
        ...

    async def delete_originals(
        self, workspace: str, external_id: str = "", *, timeout: float | None = None
    ) -> int:
        """Deletes the kept files of a document, or of a workspace, that is gone.

        Returns how many; FailedPrecondition where it is still there.
        """
        ...


class DocumentJobs(Protocol):
    """Takes files in as durable jobs."""

    async def submit_documents(
        self, files: AsyncIterator[SubmittedFile], *, timeout: float | None = None
    ) -> DocumentJob:
        """Takes files on as one job, which is durable once this returns."""
        ...

    async def get_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Reads one job with its files; NotFound where the workspace has none of that id."""
        ...

    async def list_jobs(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentJobPage:
        """Lists jobs without files, newest first; `page_size` 0 means 50, at most 500."""
        ...

    async def cancel_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Stops a job at the next safe points; a finished one stays as it is."""
        ...

    async def retry_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Queues what failed or was cancelled again; FailedPrecondition where nothing can be."""
        ...

    def watch_job(
        self, workspace: str, job_id: str, after_revision: int = 0
    ) -> AsyncIterator[DocumentJob]:
        """Yields a job now and after every change, with the files that changed, to its end."""
        ...
