"""The ingestion role's jobs over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from gateway.clients.ingestion import parts
from gateway.clients.service_errors import errors_of
from gateway.document_jobs import DocumentJob, DocumentJobPage, SubmittedFile
from gateway.wire.ingestion import to_header
from gateway.wire.jobs import job_from, job_page_from
from justesse.gateway.v1 import jobs_pb2, jobs_pb2_grpc

IDEMPOTENT_METHODS = tuple(
    f"justesse.gateway.v1.JobService/{name}" for name in ("GetJob", "ListJobs", "CancelJob")
)
_PEER = "ingestion role"


class JobsClient:
    """Implements the `DocumentJobs` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = jobs_pb2_grpc.JobServiceStub(channel)

    async def submit_documents(
        self, files: AsyncIterator[SubmittedFile], *, timeout: float | None = None
    ) -> DocumentJob:
        """Takes files on; they are read only as fast as the ingestion role takes them.

        An error of what is sent ends the call and is raised as it is.
        """
        call = self._stub.SubmitDocuments(timeout=timeout)
        try:
            with errors_of(_PEER):
                await self._send(call, files)
                response = await call
        finally:
            call.cancel()
        return job_from(response.job)

    async def _send(
        self, call: grpc.aio.StreamUnaryCall[Any, Any], files: AsyncIterator[SubmittedFile]
    ) -> None:
        try:
            async for submitted in files:
                header = to_header(submitted.file)
                await call.write(jobs_pb2.SubmitDocumentsRequest(header=header))
                async for chunk in submitted.content:
                    for part in parts(chunk):
                        await call.write(jobs_pb2.SubmitDocumentsRequest(content=part))
            await call.done_writing()
        except (asyncio.InvalidStateError, grpc.aio.InternalError):
            # The call is over before the end of the files; its status says why.
            return

    async def get_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Reads one job with its files."""
        request = jobs_pb2.GetJobRequest(workspace=workspace, job_id=job_id)
        with errors_of(_PEER):
            response = await self._stub.GetJob(request, timeout=timeout)
        return job_from(response.job)

    async def list_jobs(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentJobPage:
        """Lists jobs without files, newest first."""
        request = jobs_pb2.ListJobsRequest(
            workspace=workspace, page_size=page_size, page_token=page_token
        )
        with errors_of(_PEER):
            response = await self._stub.ListJobs(request, timeout=timeout)
        return job_page_from(response)

    async def cancel_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Stops a job at the next safe points."""
        request = jobs_pb2.CancelJobRequest(workspace=workspace, job_id=job_id)
        with errors_of(_PEER):
            response = await self._stub.CancelJob(request, timeout=timeout)
        return job_from(response.job)

    async def retry_job(
        self, workspace: str, job_id: str, *, timeout: float | None = None
    ) -> DocumentJob:
        """Queues what failed or was cancelled again."""
        request = jobs_pb2.RetryJobRequest(workspace=workspace, job_id=job_id)
        with errors_of(_PEER):
            response = await self._stub.RetryJob(request, timeout=timeout)
        return job_from(response.job)

    async def watch_job(
        self, workspace: str, job_id: str, after_revision: int = 0
    ) -> AsyncIterator[DocumentJob]:
        """Yields a job now and after every change, to its end."""
        request = jobs_pb2.WatchJobRequest(
            workspace=workspace, job_id=job_id, after_revision=after_revision
        )
        call = self._stub.WatchJob(request)
        try:
            with errors_of(_PEER):
                async for response in call:
                    yield job_from(response.job)
        finally:
            call.cancel()
