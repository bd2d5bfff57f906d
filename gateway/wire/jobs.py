"""Jobs that take documents in, to and from messages of the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

from chassis.errors import InvalidArgument
from gateway.document_jobs import (
    INGESTION,
    DocumentJob,
    DocumentJobPage,
    DocumentJobState,
    FileFailure,
    JobFile,
    SubmittedFile,
)
from gateway.uploads import checked_content
from gateway.wire.ingestion import header_from, ingestion_report_from, to_ingestion_response
from gateway.wire.moments import moment_from, to_timestamp
from justesse.gateway.v1 import ingestion_pb2, jobs_pb2

_STATES = {
    DocumentJobState.QUEUED: jobs_pb2.JOB_STATE_QUEUED,
    DocumentJobState.EXTRACTING: jobs_pb2.JOB_STATE_EXTRACTING,
    DocumentJobState.CHUNKING: jobs_pb2.JOB_STATE_CHUNKING,
    DocumentJobState.EMBEDDING: jobs_pb2.JOB_STATE_EMBEDDING,
    DocumentJobState.INDEXED: jobs_pb2.JOB_STATE_INDEXED,
    DocumentJobState.FAILED: jobs_pb2.JOB_STATE_FAILED,
    DocumentJobState.CANCELLED: jobs_pb2.JOB_STATE_CANCELLED,
}
_STATES_BY_NUMBER = {number: state for state, number in _STATES.items()}


async def submitted_files_from(
    messages: AsyncIterator[jobs_pb2.SubmitDocumentsRequest], max_bytes: int | None
) -> AsyncIterator[SubmittedFile]:
    """Reads files one after the other; what is left of one is skipped when the next is asked for.

    Sizes are checked where `max_bytes` is given. InvalidArgument: bytes before the first header,
    another number of files than announced.
    """
    stream = _FileStream(messages)
    while await stream.next_file():
        file = header_from(stream.header)
        content = stream.content()
        if max_bytes is not None:
            content = checked_content(file, content, max_bytes)
        yield SubmittedFile(file, content)
    stream.check_count()


class _FileStream:
    """The messages of a stream, cut into files."""

    def __init__(self, messages: AsyncIterator[jobs_pb2.SubmitDocumentsRequest]) -> None:
        self.header = ingestion_pb2.IngestionHeader()
        self._messages = messages
        self._following: jobs_pb2.SubmitDocumentsRequest | None = None
        self._inside = False
        self._announced: int | None = None
        self._count = 0

    async def next_file(self) -> bool:
        """Goes on to the next file, whose `header` is then at hand; False at the end."""
        if self._count == 0:
            self._following = await anext(self._messages, None)
            if self._following is not None and self._following.HasField("file_count"):
                self._announced = self._following.file_count
        async for _ in self.content():
            continue
        if self._following is None:
            return False
        if self._following.WhichOneof("part") != "header":
            raise InvalidArgument("the first message must hold a header", field="header")
        self.header = self._following.header
        self._inside = True
        self._count += 1
        return True

    async def content(self) -> AsyncIterator[bytes]:
        """Yields what is left of the present file."""
        while self._inside:
            message = await anext(self._messages, None)
            if message is None or message.WhichOneof("part") != "content":
                self._inside = False
                self._following = message
                return
            yield message.content

    def check_count(self) -> None:
        """Raises InvalidArgument where the stream held another number of files than announced."""
        if self._announced not in {None, self._count}:
            raise InvalidArgument(
                f"{self._count} files arrived, {self._announced} were announced; send them again",
                field="file_count",
                reason="INCOMPLETE_UPLOAD",
            )


def to_job(job: DocumentJob) -> jobs_pb2.Job:
    """Writes a job with the files it holds."""
    return jobs_pb2.Job(
        job_id=job.job_id,
        workspace=job.workspace,
        kind=job.kind,
        state=_STATES[job.state],
        revision=job.revision,
        create_time=to_timestamp(job.create_time),
        update_time=to_timestamp(job.update_time),
        finish_time=to_timestamp(job.finish_time),
        file_count=job.file_count,
        state_counts=[
            jobs_pb2.JobStateCount(state=_STATES[state], file_count=count)
            for state, count in job.state_counts.items()
        ],
        passage_count=job.passage_count,
        files=[_to_file(file) for file in job.files],
    )


def job_from(message: jobs_pb2.Job) -> DocumentJob:
    """Reads a job; a state this build does not know counts as embedding."""
    return DocumentJob(
        job_id=message.job_id,
        workspace=message.workspace,
        state=_state_from(message.state),
        revision=message.revision,
        create_time=moment_from(message.create_time, "create_time"),
        update_time=moment_from(message.update_time, "update_time"),
        finish_time=(
            moment_from(message.finish_time, "finish_time")
            if message.HasField("finish_time")
            else None
        ),
        state_counts={_state_from(each.state): each.file_count for each in message.state_counts},
        passage_count=message.passage_count,
        files=tuple(_file_from(file) for file in message.files),
        kind=message.kind or INGESTION,
    )


def to_list_response(page: DocumentJobPage) -> jobs_pb2.ListJobsResponse:
    """Writes one page of jobs."""
    return jobs_pb2.ListJobsResponse(
        jobs=[to_job(job) for job in page.jobs], next_page_token=page.next_page_token
    )


def job_page_from(message: jobs_pb2.ListJobsResponse) -> DocumentJobPage:
    """Reads one page of jobs."""
    return DocumentJobPage(tuple(map(job_from, message.jobs)), message.next_page_token)


def _to_file(file: JobFile) -> jobs_pb2.JobFile:
    message = jobs_pb2.JobFile(
        file_index=file.file_index,
        external_id=file.external_id,
        file_name=file.file_name,
        state=_STATES[file.state],
        attempt_count=file.attempt_count,
    )
    if file.report is not None:
        message.result.CopyFrom(to_ingestion_response(file.report))
    if file.failure is not None:
        failure = file.failure
        message.failure.status = failure.status
        message.failure.reason = failure.reason
        message.failure.message = failure.message
    return message


def _file_from(message: jobs_pb2.JobFile) -> JobFile:
    failure = None
    if message.HasField("failure"):
        told = message.failure
        failure = FileFailure(told.status, told.reason, told.message)
    return JobFile(
        file_index=message.file_index,
        external_id=message.external_id,
        file_name=message.file_name,
        state=_state_from(message.state),
        report=ingestion_report_from(message.result) if message.HasField("result") else None,
        failure=failure,
        attempt_count=message.attempt_count,
    )


def _state_from(number: jobs_pb2.JobState.ValueType) -> DocumentJobState:
    return _STATES_BY_NUMBER.get(number, DocumentJobState.EMBEDDING)
