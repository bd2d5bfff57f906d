"""Jobs in JSON."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gateway.document_jobs import DocumentJob, DocumentJobPage, JobFile
from gateway.http.models.documents import IngestionReportBody, to_ingestion_report_body


class JobFileFailureBody(BaseModel):
    """Why a file failed, or why it waits for another attempt."""

    status: str
    reason: str
    message: str


class JobFileBody(BaseModel):
    """A file of a job; `result` is set once it is INDEXED."""

    file_index: int
    external_id: str
    file_name: str
    state: str
    attempt_count: int
    result: IngestionReportBody | None = None
    failure: JobFileFailureBody | None = None


class JobBody(BaseModel):
    """A job.

    `state` is QUEUED, EXTRACTING, CHUNKING, EMBEDDING, or, once it is finished, INDEXED, FAILED or
    CANCELLED: of the files in work the least advanced, of a finished job the worst.
    """

    job_id: str
    workspace: str
    kind: str
    state: str
    finished: bool
    revision: int = Field(description="grows with every change")
    create_time: datetime
    update_time: datetime
    finish_time: datetime | None = None
    file_count: int
    state_counts: dict[str, int] = Field(description="files by state")
    passage_count: int
    files: list[JobFileBody] | None = None


class JobPageBody(BaseModel):
    """A page of jobs without their files, newest first; an empty token marks the last page."""

    jobs: list[JobBody]
    next_page_token: str


def to_job_body(job: DocumentJob, *, files: bool = True) -> JobBody:
    """Writes a job, with its files if wanted."""
    return JobBody(
        job_id=job.job_id,
        workspace=job.workspace,
        kind=job.kind,
        state=job.state.name,
        finished=job.finished,
        revision=job.revision,
        create_time=job.create_time,
        update_time=job.update_time,
        finish_time=job.finish_time,
        file_count=job.file_count,
        state_counts={state.name: count for state, count in job.state_counts.items()},
        passage_count=job.passage_count,
        files=[_to_file_body(file) for file in job.files] if files else None,
    )


def to_job_page_body(page: DocumentJobPage) -> JobPageBody:
    """Writes one page of jobs."""
    return JobPageBody(
        jobs=[to_job_body(job, files=False) for job in page.jobs],
        next_page_token=page.next_page_token,
    )


def _to_file_body(file: JobFile) -> JobFileBody:
    failure = file.failure
    return JobFileBody(
        file_index=file.file_index,
        external_id=file.external_id,
        file_name=file.file_name,
        state=file.state.name,
        attempt_count=file.attempt_count,
        result=None if file.report is None else to_ingestion_report_body(file.report),
        failure=(
            None
            if failure is None
            else JobFileFailureBody(
                status=failure.status, reason=failure.reason, message=failure.message
            )
        ),
    )
