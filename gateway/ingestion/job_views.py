"""Jobs of the store as callers see them."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.document_jobs import DocumentJob, DocumentJobState, FileFailure, JobFile
from gateway.ingestion.upload_records import report_from
from gateway.jobs.job import Job, JobState, Task


def document_job(job: Job, tasks: Sequence[Task] = ()) -> DocumentJob:
    """Returns a job with the files of some of its tasks."""
    return DocumentJob(
        job_id=job.id,
        workspace=job.workspace,
        state=DocumentJobState(job.state.value),
        revision=job.revision,
        create_time=job.create_time,
        update_time=job.update_time,
        finish_time=job.finish_time,
        state_counts={DocumentJobState(state.value): count for state, count in job.counts.items()},
        passage_count=job.done_count,
        files=tuple(_file(task) for task in tasks),
        kind=job.kind,
    )


def _file(task: Task) -> JobFile:
    failure = task.failure
    indexed = task.state is JobState.INDEXED and task.result is not None
    return JobFile(
        file_index=int(task.payload.get("index", 0)),
        external_id=task.subject,
        file_name=task.payload.get("file", {}).get("file_name", ""),
        state=DocumentJobState(task.state.value),
        report=report_from(task.result) if indexed and task.result is not None else None,
        failure=(
            None
            if failure is None
            else FileFailure(failure.status, failure.reason, failure.message, failure.field)
        ),
        attempt_count=task.attempt_count,
    )
