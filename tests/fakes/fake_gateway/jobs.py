"""The part of the fake gateway that keeps jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from chassis.errors import FailedPrecondition, NotFound
from chassis.interception import ServicerContext
from justesse.gateway.v1 import ingestion_pb2, jobs_pb2, jobs_pb2_grpc
from tests.fakes.fake_gateway.state import UPDATE_SECONDS, GatewayState, TakenFile, fail

FINAL = (jobs_pb2.JOB_STATE_INDEXED, jobs_pb2.JOB_STATE_FAILED, jobs_pb2.JOB_STATE_CANCELLED)


class FakeJobs(jobs_pb2_grpc.JobServiceServicer):
    """Queues jobs; who watches one sees it done. A file that holds "unreadable" fails."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def SubmitDocuments(
        self,
        request_iterator: AsyncIterator[jobs_pb2.SubmitDocumentsRequest],
        context: ServicerContext,
    ) -> jobs_pb2.SubmitDocumentsResponse:
        """Keeps the files with the job."""
        await self._state.enter("SubmitDocuments", context)
        taken: list[TakenFile] = []
        announced = 0
        async for message in request_iterator:
            if message.WhichOneof("part") == "header":
                await self._state.documents_of(message.header.workspace, context)
                announced = message.file_count if not taken else announced
                taken.append(TakenFile(message.header, [], b""))
            else:
                taken[-1].part_sizes.append(len(message.content))
                taken[-1].content += message.content
        assert announced == len(taken)
        job = jobs_pb2.Job(
            job_id=f"{len(self._state.jobs) + 1:032x}",
            workspace=taken[0].header.workspace,
            kind="ingestion",
            files=[
                jobs_pb2.JobFile(
                    file_index=place,
                    external_id=file.header.external_id or file.header.file_name,
                    file_name=file.header.file_name,
                )
                for place, file in enumerate(taken)
            ],
        )
        job.create_time.seconds = job.update_time.seconds = UPDATE_SECONDS
        self._state.jobs[job.job_id] = job
        self._state.job_files[job.job_id] = taken
        self._all(job, jobs_pb2.JOB_STATE_QUEUED)
        return jobs_pb2.SubmitDocumentsResponse(job=job)

    async def GetJob(
        self, request: jobs_pb2.GetJobRequest, context: ServicerContext
    ) -> jobs_pb2.GetJobResponse:
        """Answers with the job as it stands."""
        await self._state.enter("GetJob", context)
        return jobs_pb2.GetJobResponse(job=await self._job(request, context))

    async def ListJobs(
        self, request: jobs_pb2.ListJobsRequest, context: ServicerContext
    ) -> jobs_pb2.ListJobsResponse:
        """Pages by position, newest first."""
        await self._state.enter("ListJobs", context)
        await self._state.documents_of(request.workspace, context)
        jobs = [job for job in self._state.jobs.values() if job.workspace == request.workspace]
        start, size = int(request.page_token or 0), request.page_size or 50
        response = jobs_pb2.ListJobsResponse(
            jobs=jobs[::-1][start : start + size],
            next_page_token=str(start + size) if start + size < len(jobs) else "",
        )
        for job in response.jobs:
            job.ClearField("files")
        return response

    async def CancelJob(
        self, request: jobs_pb2.CancelJobRequest, context: ServicerContext
    ) -> jobs_pb2.CancelJobResponse:
        """Cancels at once."""
        await self._state.enter("CancelJob", context)
        job = await self._job(request, context)
        if job.state not in FINAL:
            self._all(job, jobs_pb2.JOB_STATE_CANCELLED)
        return jobs_pb2.CancelJobResponse(job=job)

    async def RetryJob(
        self, request: jobs_pb2.RetryJobRequest, context: ServicerContext
    ) -> jobs_pb2.RetryJobResponse:
        """Queues everything again."""
        await self._state.enter("RetryJob", context)
        job = await self._job(request, context)
        if job.state == jobs_pb2.JOB_STATE_INDEXED:
            text = "nothing of the job can be done again"
            await fail(context, FailedPrecondition(text, reason="NOTHING_TO_RETRY"))
        self._all(job, jobs_pb2.JOB_STATE_QUEUED)
        return jobs_pb2.RetryJobResponse(job=job)

    async def WatchJob(
        self, request: jobs_pb2.WatchJobRequest, context: ServicerContext
    ) -> AsyncIterator[jobs_pb2.WatchJobResponse]:
        """Shows the job queued, in work and finished."""
        await self._state.enter("WatchJob", context)
        job = await self._job(request, context)
        yield jobs_pb2.WatchJobResponse(job=job)
        if job.state in FINAL:
            return
        self._all(job, jobs_pb2.JOB_STATE_EMBEDDING)
        yield jobs_pb2.WatchJobResponse(job=job)
        if self._state.watch_breaks:
            await fail(context, self._state.watch_breaks.pop())
        await self._finish(job, context)
        yield jobs_pb2.WatchJobResponse(job=job)

    async def _job(
        self,
        request: (
            jobs_pb2.GetJobRequest
            | jobs_pb2.CancelJobRequest
            | jobs_pb2.RetryJobRequest
            | jobs_pb2.WatchJobRequest
        ),
        context: ServicerContext,
    ) -> jobs_pb2.Job:
        job = self._state.jobs.get(request.job_id)
        if job is None or job.workspace != request.workspace:
            text = f"workspace {request.workspace} has no job {request.job_id!r}"
            await fail(context, NotFound(text, reason="JOB_NOT_FOUND"))
        assert job is not None
        return job

    async def _finish(self, job: jobs_pb2.Job, context: ServicerContext) -> None:
        documents = await self._state.documents_of(job.workspace, context)
        for file, taken in zip(job.files, self._state.job_files[job.job_id], strict=True):
            file.attempt_count = 1
            if b"unreadable" in taken.content:
                file.state = jobs_pb2.JOB_STATE_FAILED
                file.failure.status = "INVALID_ARGUMENT"
                file.failure.reason = "UNREADABLE_FILE"
                file.failure.message = f"{file.file_name}: it cannot be read"
                continue
            documents[file.external_id] = taken
            file.state = jobs_pb2.JOB_STATE_INDEXED
            file.result.outcome = ingestion_pb2.INGESTION_OUTCOME_CREATED
            file.result.external_id = file.external_id
            file.result.passage_count = 2
        job.finish_time.seconds = UPDATE_SECONDS
        job.state = max(file.state for file in job.files)
        self._count(job)

    def _all(self, job: jobs_pb2.Job, state: jobs_pb2.JobState.ValueType) -> None:
        job.state = state
        for file in job.files:
            file.state = state
            file.ClearField("failure")
        self._count(job)

    def _count(self, job: jobs_pb2.Job) -> None:
        job.revision += 1
        job.file_count = len(job.files)
        job.passage_count = sum(file.result.passage_count for file in job.files)
        job.ClearField("state_counts")
        states = [file.state for file in job.files]
        for state in sorted(set(states)):
            job.state_counts.add(state=state, file_count=states.count(state))
