"""Jobs over gRPC; where a size is given, the sizes of files are checked as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from operator import methodcaller

from chassis.interception import ServicerContext
from gateway.ingestion_ports import DocumentJobs
from gateway.pace import Pace, paced
from gateway.validation import check_job_name, check_page
from gateway.wire.jobs import submitted_files_from, to_job, to_list_response
from justesse.gateway.v1 import jobs_pb2, jobs_pb2_grpc


class JobServicer(jobs_pb2_grpc.JobServiceServicer):
    """Serves justesse.gateway.v1.JobService."""

    def __init__(
        self, jobs: DocumentJobs, *, max_file_bytes: int | None = None, pace: Pace | None = None
    ) -> None:
        self._jobs = jobs
        self._pace = pace
        self._max_file_bytes = max_file_bytes

    async def SubmitDocuments(
        self,
        request_iterator: AsyncIterator[jobs_pb2.SubmitDocumentsRequest],
        context: ServicerContext,
    ) -> jobs_pb2.SubmitDocumentsResponse:
        """Takes files on as one job."""
        messages = paced(request_iterator, methodcaller("ByteSize"), self._pace)
        files = submitted_files_from(messages, self._max_file_bytes)
        job = await self._jobs.submit_documents(files)
        return jobs_pb2.SubmitDocumentsResponse(job=to_job(job))

    async def GetJob(
        self, request: jobs_pb2.GetJobRequest, context: ServicerContext
    ) -> jobs_pb2.GetJobResponse:
        """Reads one job with its files."""
        check_job_name(request.workspace, request.job_id)
        job = await self._jobs.get_job(request.workspace, request.job_id)
        return jobs_pb2.GetJobResponse(job=to_job(job))

    async def ListJobs(
        self, request: jobs_pb2.ListJobsRequest, context: ServicerContext
    ) -> jobs_pb2.ListJobsResponse:
        """Lists jobs in pages, newest first."""
        check_page(request.workspace, request.page_size)
        page = await self._jobs.list_jobs(request.workspace, request.page_size, request.page_token)
        return to_list_response(page)

    async def CancelJob(
        self, request: jobs_pb2.CancelJobRequest, context: ServicerContext
    ) -> jobs_pb2.CancelJobResponse:
        """Stops a job."""
        check_job_name(request.workspace, request.job_id)
        job = await self._jobs.cancel_job(request.workspace, request.job_id)
        return jobs_pb2.CancelJobResponse(job=to_job(job))

    async def RetryJob(
        self, request: jobs_pb2.RetryJobRequest, context: ServicerContext
    ) -> jobs_pb2.RetryJobResponse:
        """Queues what failed or was cancelled again."""
        check_job_name(request.workspace, request.job_id)
        job = await self._jobs.retry_job(request.workspace, request.job_id)
        return jobs_pb2.RetryJobResponse(job=to_job(job))

    async def WatchJob(
        self, request: jobs_pb2.WatchJobRequest, context: ServicerContext
    ) -> AsyncIterator[jobs_pb2.WatchJobResponse]:
        """Sends the state of a job until its end."""
        check_job_name(request.workspace, request.job_id)
        watched = self._jobs.watch_job(request.workspace, request.job_id, request.after_revision)
        async for job in watched:
            yield jobs_pb2.WatchJobResponse(job=to_job(job))
