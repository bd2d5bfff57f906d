"""Jobs: files that are taken in in the background, and what becomes of each."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from justesse.client.ingestion import DocumentFacts, IngestionResult, ingestion_result_from
from justesse.client.metadata import moment_from
from justesse.client.uploads import Content, Upload
from justesse.gateway.v1 import jobs_pb2


class JobState(StrEnum):
    """How far a file is; of a job, of its files in work the least advanced."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    INDEXED = "indexed"
    """Committed and searchable."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    """A state that is newer than this client."""


FINAL_STATES = frozenset({JobState.INDEXED, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class FileToIngest:
    """A file for a job: a path, or bytes with a `file_name`, and what is said about it."""

    content: Content
    file_name: str = ""
    facts: DocumentFacts = field(default_factory=DocumentFacts)


@dataclass(frozen=True, slots=True)
class JobFileFailure:
    """Why a file failed, or why it waits for another attempt."""

    status: str
    """Canonical status, such as "INVALID_ARGUMENT"."""
    reason: str
    """UPPER_SNAKE, for programs."""
    message: str


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file of a job."""

    file_index: int
    """Position in the job, from 0."""
    external_id: str
    file_name: str
    state: JobState
    result: IngestionResult | None
    """Set once it is indexed."""
    failure: JobFileFailure | None
    attempt_count: int


@dataclass(frozen=True, slots=True)
class Job:
    """A job, with those of its files that belong to the answer."""

    job_id: str
    workspace: str
    kind: str
    state: JobState
    revision: int
    """Grows with every change."""
    create_time: datetime
    update_time: datetime
    finish_time: datetime | None
    file_count: int
    state_counts: Mapping[JobState, int]
    """Files in each state that occurs."""
    passage_count: int
    """Passages stored, over all files."""
    files: tuple[JobFile, ...]

    @property
    def finished(self) -> bool:
        """Nothing more will happen unless it is retried."""
        return self.state in FINAL_STATES


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs without their files, newest first; an empty token marks the last page."""

    jobs: tuple[Job, ...]
    next_page_token: str


def submission_messages(
    workspace: str, files: Sequence[FileToIngest]
) -> Generator[jobs_pb2.SubmitDocumentsRequest, None, None]:
    """Yields the messages that carry files, reading them as they are asked for.

    Raises what opening and reading a file raises, and ValueError and TypeError for facts that
    cannot be sent.
    """
    for place, file in enumerate(files):
        with Upload(workspace, file.content, file.file_name, file.facts) as upload:
            header = jobs_pb2.SubmitDocumentsRequest(header=upload.header.header)
            if place == 0:
                header.file_count = len(files)
            yield header
            while part := upload.next_part():
                yield jobs_pb2.SubmitDocumentsRequest(content=part.content)


def job_from(message: jobs_pb2.Job) -> Job:
    """Decodes a job."""
    return Job(
        job_id=message.job_id,
        workspace=message.workspace,
        kind=message.kind,
        state=_state_from(message.state),
        revision=message.revision,
        create_time=moment_from(message.create_time),
        update_time=moment_from(message.update_time),
        finish_time=moment_from(message.finish_time) if message.HasField("finish_time") else None,
        file_count=message.file_count,
        state_counts={_state_from(each.state): each.file_count for each in message.state_counts},
        passage_count=message.passage_count,
        files=tuple(_file_from(file) for file in message.files),
    )


def job_page_from(message: jobs_pb2.ListJobsResponse) -> JobPage:
    """Decodes one page of jobs."""
    return JobPage(tuple(job_from(job) for job in message.jobs), message.next_page_token)


def _file_from(message: jobs_pb2.JobFile) -> JobFile:
    failure = message.failure
    return JobFile(
        file_index=message.file_index,
        external_id=message.external_id,
        file_name=message.file_name,
        state=_state_from(message.state),
        result=ingestion_result_from(message.result) if message.HasField("result") else None,
        failure=(
            JobFileFailure(failure.status, failure.reason, failure.message)
            if message.HasField("failure")
            else None
        ),
        attempt_count=message.attempt_count,
    )


_STATES = {
    jobs_pb2.JOB_STATE_QUEUED: JobState.QUEUED,
    jobs_pb2.JOB_STATE_EXTRACTING: JobState.EXTRACTING,
    jobs_pb2.JOB_STATE_CHUNKING: JobState.CHUNKING,
    jobs_pb2.JOB_STATE_EMBEDDING: JobState.EMBEDDING,
    jobs_pb2.JOB_STATE_INDEXED: JobState.INDEXED,
    jobs_pb2.JOB_STATE_FAILED: JobState.FAILED,
    jobs_pb2.JOB_STATE_CANCELLED: JobState.CANCELLED,
}


def _state_from(number: jobs_pb2.JobState.ValueType) -> JobState:
    return _STATES.get(number, JobState.UNKNOWN)
