"""The ingestion role's two ports: files taken in while the caller waits, and jobs.

Both go the same way, through the queue; who waits for a file that is being taken in may go away
without any harm to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chassis.errors import Aborted, DeadlineExceeded
from gateway.document_jobs import INGESTION, DocumentJob, DocumentJobPage, SubmittedFile
from gateway.incoming_files import IncomingFile, IngestionReport
from gateway.ingestion.job_views import document_job
from gateway.ingestion.kept_documents import KeptDocuments
from gateway.ingestion.submissions import Submissions
from gateway.ingestion.upload_records import report_from
from gateway.jobs.failures import error_of
from gateway.jobs.job import Job, JobState
from gateway.jobs.job_changes import JobChanges
from gateway.jobs.job_store import JobStore
from gateway.jobs.withdrawals import Withdrawals

_POLL_S = 1.0


@dataclass(frozen=True, slots=True)
class QueuedIngestion:
    """Implements the ports `Ingestion` and `DocumentJobs`; `wake` tells who works on jobs."""

    submissions: Submissions
    kept: KeptDocuments
    jobs: JobStore
    withdrawals: Withdrawals
    changes: JobChanges
    wake: Callable[[], None]

    async def ingest_document(
        self, file: IncomingFile, content: AsyncIterator[bytes], *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes one file in; committed and searchable once this returns.

        It goes on if the caller stops waiting after the whole file has arrived.
        """
        async with _within(timeout, f"{file.file_name} was not taken in"):
            job = await self.submissions.submit_one(SubmittedFile(file, content))
            self.wake()
            return await self._report(job)

    async def rechunk_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes the kept file of a document in again; NotFound where it was not kept.

        It goes on if the caller stops waiting after the file was found.
        """
        async with _within(timeout, f"document {external_id!r} was not cut anew"):
            async with self.kept.opened(workspace, external_id) as submitted:
                job = await self.submissions.submit_one(submitted)
            self.wake()
            return await self._report(job)

    async def delete_originals(
        self, workspace: str, external_id: str = "", *, timeout: float | None = None
    ) -> int:
        """Deletes the kept files of a document, or of a workspace, that is gone.

        With them go uploads of it that still waited, and what was received for earlier ones.
        """
        async with _within(timeout, "the kept files were not deleted"):
            count = await self.kept.delete(workspace, external_id)
            finished = await self.withdrawals.withdraw(INGESTION, workspace, external_id)
            self.wake()
            await asyncio.to_thread(self.submissions.forget, finished)
            return count

    async def submit_documents(
        self, files: AsyncIterator[SubmittedFile], *, timeout: float | None = None
    ) -> DocumentJob:
        """Takes files on as one job, which is durable once this returns."""
        async with _within(timeout, "the files did not arrive"):
            job = await self.submissions.submit(files)
        self.wake()
        return await self.get_job(job.workspace, job.id)

    async def get_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Reads one job with its files."""
        job, tasks = await self.jobs.job_with_tasks(workspace, job_id)
        return document_job(job, tasks)

    async def list_jobs(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentJobPage:
        """Lists jobs without files, newest first."""
        page = await self.jobs.page(workspace, page_size, page_token, INGESTION)
        return DocumentJobPage(tuple(map(document_job, page.jobs)), page.next_page_token)

    async def cancel_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Stops a job at the next safe points."""
        await self.jobs.cancel(workspace, job_id)
        self.wake()
        return await self.get_job(workspace, job_id)

    async def retry_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Queues what failed or was cancelled again."""
        await self.jobs.retry(workspace, job_id)
        self.wake()
        return await self.get_job(workspace, job_id)

    async def watch_job(
        self, workspace: str, job_id: str, after_revision: int = 0
    ) -> AsyncIterator[DocumentJob]:
        """Yields a job now and after every change, with the files that changed, to its end."""
        known = after_revision
        first = True
        with self.changes.watch(job_id) as watch:
            while True:
                job, tasks = await self.jobs.job_with_tasks(workspace, job_id, known)
                if first or job.revision > known:
                    yield document_job(job, tasks)
                if job.finished:
                    return
                first, known = False, job.revision
                await watch.wait(_POLL_S)

    async def _report(self, job: Job) -> IngestionReport:
        with self.changes.watch(job.id) as watch:
            while not (await self.jobs.job(job.workspace, job.id)).finished:
                await watch.wait(_POLL_S)
        _, (task,) = await self.jobs.job_with_tasks(job.workspace, job.id)
        if task.state is JobState.INDEXED and task.result is not None:
            return report_from(task.result)
        if task.failure is not None:
            raise error_of(task.failure)
        raise Aborted(f"job {job.id} was cancelled; send the file again", reason="JOB_CANCELLED")


@asynccontextmanager
async def _within(seconds: float | None, what: str) -> AsyncIterator[None]:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineExceeded(f"{what} in {seconds:g} s") from error
