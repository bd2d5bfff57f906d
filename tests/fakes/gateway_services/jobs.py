"""The ingestion role's jobs, in memory; files are indexed at once unless a test holds them back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from chassis.errors import FailedPrecondition, NotFound
from gateway.document_jobs import (
    DocumentJob,
    DocumentJobPage,
    DocumentJobState,
    FileFailure,
    JobFile,
    SubmittedFile,
)
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from tests.fakes.gateway_services.behaviour import Behaviour

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@dataclass
class FakeJobs:
    """Keeps jobs by id. While `held`, they stay queued; `step` moves one on by a state.

    Files named *.bad fail.
    """

    behaviour: Behaviour = field(default_factory=Behaviour)
    jobs: dict[str, DocumentJob] = field(default_factory=dict)
    taken: list[tuple[IncomingFile, bytes]] = field(default_factory=list)
    held: bool = False
    watched_from: list[int] = field(default_factory=list)
    watching: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def submit_documents(
        self, files: AsyncIterator[SubmittedFile], *, timeout: float | None = None
    ) -> DocumentJob:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        found: list[JobFile] = []
        async for submitted in files:
            self.taken.append((submitted.file, b"".join([c async for c in submitted.content])))
            name = submitted.file.file_name
            found.append(
                JobFile(
                    len(found), submitted.file.external_id or name, name, DocumentJobState.QUEUED
                )
            )
        job_id = f"{len(self.jobs) + 1:032x}"
        workspace = self.taken[-1][0].workspace
        job = DocumentJob(
            job_id, workspace, DocumentJobState.QUEUED, 1, NOW, NOW, files=tuple(found)
        )
        self._put(job)
        if not self.held:
            self.finish(job_id)
        return self.jobs[job_id]

    async def get_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        job = self.jobs.get(job_id)
        if job is None or job.workspace != workspace:
            raise NotFound(f"workspace {workspace} has no job {job_id!r}", reason="JOB_NOT_FOUND")
        return job

    async def list_jobs(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentJobPage:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        size = page_size or 50
        found = [
            replace(job, files=())
            for job_id, job in sorted(self.jobs.items(), reverse=True)
            if job.workspace == workspace and (not page_token or job_id < page_token)
        ]
        more = len(found) > size
        return DocumentJobPage(tuple(found[:size]), found[size - 1].job_id if more else "")

    async def cancel_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Implements the port."""
        job = await self.get_job(workspace, job_id)
        if not job.finished:
            self._all(job, DocumentJobState.CANCELLED)
        return self.jobs[job_id]

    async def retry_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Implements the port."""
        job = await self.get_job(workspace, job_id)
        if job.state is DocumentJobState.INDEXED:
            raise FailedPrecondition("nothing can be done again", reason="NOTHING_TO_RETRY")
        self._all(job, DocumentJobState.QUEUED)
        return self.jobs[job_id]

    async def watch_job(
        self, workspace: str, job_id: str, after_revision: int = 0
    ) -> AsyncIterator[DocumentJob]:
        """Implements the port."""
        self.watched_from.append(after_revision)
        known, first = after_revision, True
        self.watching += 1
        try:
            while True:
                job = await self.get_job(workspace, job_id)
                if first or job.revision > known:
                    yield job
                if job.finished:
                    return
                first, known = False, job.revision
                await self.changed.wait()
                self.changed.clear()
        finally:
            self.watching -= 1

    def step(self, job_id: str, state: DocumentJobState) -> None:
        """Puts all files of a job into a state."""
        self._all(self.jobs[job_id], state)

    def finish(self, job_id: str) -> None:
        """Ends a job: files named *.bad fail, all others are indexed."""
        job = self.jobs[job_id]
        files = tuple(
            _failed(file) if file.file_name.endswith(".bad") else _indexed(file)
            for file in job.files
        )
        failed = any(file.failure for file in files)
        state = DocumentJobState.FAILED if failed else DocumentJobState.INDEXED
        self._put(replace(job, state=state, files=files, finish_time=NOW))

    def _all(self, job: DocumentJob, state: DocumentJobState) -> None:
        files = tuple(replace(file, state=state, failure=None) for file in job.files)
        self._put(replace(job, state=state, files=files))

    def _put(self, job: DocumentJob) -> None:
        counts: dict[DocumentJobState, int] = {}
        for file in job.files:
            counts[file.state] = counts.get(file.state, 0) + 1
        before = self.jobs.get(job.job_id)
        self.jobs[job.job_id] = replace(
            job,
            revision=job.revision + 1 if before else job.revision,
            state_counts=counts,
            passage_count=sum(file.report.passage_count for file in job.files if file.report),
        )
        self.changed.set()


def _indexed(file: JobFile) -> JobFile:
    report = IngestionReport(IngestionOutcome.CREATED, file.external_id, "Titre", 2)
    return replace(file, state=DocumentJobState.INDEXED, report=report, attempt_count=1)


def _failed(file: JobFile) -> JobFile:
    failure = FileFailure("INVALID_ARGUMENT", "UNREADABLE_FILE", f"{file.file_name}: unreadable")
    return replace(file, state=DocumentJobState.FAILED, failure=failure, attempt_count=1)
