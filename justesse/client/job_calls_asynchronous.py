"""The part of the asyncio client that works with jobs."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import grpc.aio

from justesse.client import methods, requests
from justesse.client.call_terms import agreed_terms
from justesse.client.destination import Destination
from justesse.client.early_status import EarlyStatus
from justesse.client.failed_calls import error_from
from justesse.client.jobs import FileToIngest, Job, JobPage, job_from, submission_messages
from justesse.client.requests import CallFor, ResultT
from justesse.client.written_messages import write_messages
from justesse.gateway.v1.jobs_pb2 import WatchJobRequest


class AsyncJobCalls(ABC):
    """What a client can do with jobs."""

    _destination: Destination
    _channel: grpc.aio.Channel

    async def submit(
        self,
        workspace: str,
        files: Sequence[FileToIngest],
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> Job:
        """Has files taken in as one job; once this returns, the job outlives any process.

        A file that the service cannot take in fails in the job. Raises OSError for a file that
        cannot be read, ValueError and TypeError for facts that cannot be sent; there is no job
        then.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        method = methods.SUBMIT_DOCUMENTS
        send = self._channel.stream_unary(
            method.path,
            request_serializer=method.request_type.SerializeToString,
            response_deserializer=method.response_type.FromString,
        )
        call = send(timeout=terms.timeout, metadata=terms.metadata)
        early_status = EarlyStatus(call)
        messages = submission_messages(workspace, files)
        try:
            await write_messages(call, messages)
            return job_from((await call).job)
        except grpc.aio.AioRpcError as error:
            raise error_from(early_status.failure_or(error), terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()
            # One that is being read in a thread closes its file there.
            with suppress(ValueError):
                messages.close()

    async def get_job(
        self,
        workspace: str,
        job_id: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Job:
        """Reads one job with its files."""
        return await self._answer(requests.get_job(workspace, job_id), timeout, request_id)

    async def list_jobs(
        self,
        workspace: str,
        *,
        page_size: int = 50,
        page_token: str = "",
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> JobPage:
        """Lists one page of jobs without their files, newest first; at most 500 a page."""
        call = requests.list_jobs(workspace, page_size, page_token)
        return await self._answer(call, timeout, request_id)

    async def iterate_jobs(
        self,
        workspace: str,
        *,
        page_size: int = 50,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> AsyncIterator[Job]:
        """Iterates over all jobs without their files, newest first; `timeout` is for each page."""
        page_token = ""
        while True:
            page = await self.list_jobs(
                workspace,
                page_size=page_size,
                page_token=page_token,
                timeout=timeout,
                request_id=request_id,
            )
            for job in page.jobs:
                yield job
            if not page.next_page_token:
                return
            page_token = page.next_page_token

    async def cancel_job(
        self,
        workspace: str,
        job_id: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Job:
        """Stops a job at its next safe points; a finished one stays as it is."""
        return await self._answer(requests.cancel_job(workspace, job_id), timeout, request_id)

    async def retry_job(
        self,
        workspace: str,
        job_id: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Job:
        """Queues the failed and cancelled files of a finished job again."""
        return await self._answer(requests.retry_job(workspace, job_id), timeout, request_id)

    async def watch_job(
        self,
        workspace: str,
        job_id: str,
        *,
        after_revision: int = 0,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> AsyncIterator[Job]:
        """Yields a job now and after every change, each time with the files that changed.

        Ends after the final state. Who lost the connection goes on from the last `revision`.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        method = methods.WATCH_JOB
        send = self._channel.unary_stream(
            method.path,
            request_serializer=method.request_type.SerializeToString,
            response_deserializer=method.response_type.FromString,
        )
        message = WatchJobRequest(workspace=workspace, job_id=job_id, after_revision=after_revision)
        call = send(message, timeout=terms.timeout, metadata=terms.metadata)
        try:
            async for response in call:
                yield job_from(response.job)
        except grpc.aio.AioRpcError as error:
            raise error_from(error, terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()

    @abstractmethod
    async def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT: ...
