"""Jobs over HTTP: uploads that are done in the background, and what becomes of them."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Request, Response

from gateway.document_jobs import DocumentJob
from gateway.http.job_events import job_events, last_revision
from gateway.http.models.documents import UploadFields
from gateway.http.models.jobs import JobBody, JobPageBody, to_job_body, to_job_page_body
from gateway.http.multipart import uploaded_files
from gateway.http.responses import JsonResponse
from gateway.ingestion_ports import DocumentJobs
from gateway.validation import check_job_name, check_page, check_slug

JOBS = "/v1/workspaces/{slug}/jobs"
JOB = f"{JOBS}/{{job_id}}"


def job_routes(jobs: DocumentJobs) -> APIRouter:
    """Returns the routes of jobs."""
    router = APIRouter(tags=["jobs"])

    @router.post(
        JOBS,
        response_model=JobBody,
        status_code=202,
        responses={200: {"model": JobBody}},
        openapi_extra=_upload_form(),
    )
    async def submit_documents(slug: str, request: Request, wait: bool = False) -> JsonResponse:
        """Takes files on as one job, which is durable once this answers 202.

        With `wait`, answers 200 once the job is finished, whatever became of its files.
        """
        check_slug(slug, "workspace")
        async with uploaded_files(request, slug) as files:
            job = await jobs.submit_documents(files)
        if wait:
            return JsonResponse(to_job_body(await finished(jobs, job)))
        return JsonResponse(to_job_body(job), 202, {"Location": location_of(job)})

    @router.get(JOBS, response_model=JobPageBody)
    async def list_jobs(slug: str, page_size: int = 0, page_token: str = "") -> JsonResponse:
        """Lists jobs without their files, newest first, in pages of 50."""
        check_page(slug, page_size)
        return JsonResponse(to_job_page_body(await jobs.list_jobs(slug, page_size, page_token)))

    @router.get(JOB, response_model=JobBody)
    async def get_job(slug: str, job_id: str) -> JsonResponse:
        """Reads one job with its files."""
        check_job_name(slug, job_id)
        return JsonResponse(to_job_body(await jobs.get_job(slug, job_id)))

    @router.post(f"{JOB}:cancel", response_model=JobBody)
    async def cancel_job(slug: str, job_id: str) -> JsonResponse:
        """Stops a job at its next safe points; a finished one stays as it is."""
        check_job_name(slug, job_id)
        return JsonResponse(to_job_body(await jobs.cancel_job(slug, job_id)))

    @router.post(f"{JOB}:retry", response_model=JobBody)
    async def retry_job(slug: str, job_id: str) -> JsonResponse:
        """Queues the failed and cancelled files of a finished job again."""
        check_job_name(slug, job_id)
        return JsonResponse(to_job_body(await jobs.retry_job(slug, job_id)))

    @router.get(f"{JOB}/events", responses={200: {"content": {"text/event-stream": {}}}})
    async def watch_job(
        slug: str, job_id: str, last_event_id: Annotated[str | None, Header()] = None
    ) -> Response:
        """Sends the job as server-sent events, now and after every change, until it is finished.

        The data of an event is the job with the files that changed since the event before.
        """
        check_job_name(slug, job_id)
        return await job_events(jobs, slug, job_id, last_revision(last_event_id))

    return router


def location_of(job: DocumentJob) -> str:
    """Returns the path under which a job is found."""
    return f"/v1/workspaces/{quote(job.workspace)}/jobs/{job.job_id}"


async def finished(jobs: DocumentJobs, job: DocumentJob) -> DocumentJob:
    """Waits for the end of a job and returns it with all its files."""
    async for state in jobs.watch_job(job.workspace, job.job_id):
        if state.finished:
            break
    return await jobs.get_job(job.workspace, job.job_id)


def _upload_form() -> dict[str, Any]:
    """Describes the form for /docs, since it is read part by part and not by FastAPI."""
    schema = UploadFields.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    del schema["properties"]["workspace"]
    schema["properties"]["metadata"] = {"type": "string", "description": "JSON object"}
    schema["properties"]["file"] = {
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": "one part a file; with several, no external_id, title or source_uri",
    }
    schema["required"] = ["file"]
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    }
