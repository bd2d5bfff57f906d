"""Jobs whose files are taken on in turn; everything else about them is let by."""

from __future__ import annotations

from collections.abc import AsyncIterator

from gateway.admission.admission import Admission
from gateway.document_jobs import DocumentJob, DocumentJobPage, SubmittedFile
from gateway.ingestion_ports import DocumentJobs


class AdmittedJobs:
    """Implements `DocumentJobs`; a submission holds a place for as long as its files come.

    ResourceExhausted where too many come at once; nothing was read then but the first file's head.
    """

    def __init__(self, jobs: DocumentJobs, admission: Admission) -> None:
        self._jobs = jobs
        self._admission = admission

    async def submit_documents(
        self, files: AsyncIterator[SubmittedFile], *, timeout: float | None = None
    ) -> DocumentJob:
        """Takes files on as one job, in the turn of the first file's workspace."""
        first = await anext(files, None)
        if first is None:
            return await self._jobs.submit_documents(files, timeout=timeout)
        async with self._admission.place_for(first.file.workspace):
            return await self._jobs.submit_documents(_joined(first, files), timeout=timeout)

    async def get_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Reads one job with its files."""
        return await self._jobs.get_job(workspace, job_id, timeout=timeout)

    async def list_jobs(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentJobPage:
        """Lists jobs without files."""
        return await self._jobs.list_jobs(workspace, page_size, page_token, timeout=timeout)

    async def cancel_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Stops a job."""
        return await self._jobs.cancel_job(workspace, job_id, timeout=timeout)

    async def retry_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Queues what failed or was cancelled again."""
        return await self._jobs.retry_job(workspace, job_id, timeout=timeout)

    def watch_job(
        self, workspace: str, job_id: str, after_revision: int = 0
    ) -> AsyncIterator[DocumentJob]:
        """Yields a job now and after every change."""
        return self._jobs.watch_job(workspace, job_id, after_revision)


async def _joined(
    first: SubmittedFile, files: AsyncIterator[SubmittedFile]
) -> AsyncIterator[SubmittedFile]:
    yield first
    async for file in files:
        yield file
