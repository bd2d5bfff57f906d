"""Documents over HTTP, uploads among them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request

from gateway.catalogue import Catalogue
from gateway.document_jobs import SubmittedFile
from gateway.http.models.documents import (
    DocumentDeletionBody,
    DocumentPageBody,
    DocumentWithPassagesBody,
    IngestionReportBody,
    SourceDeletionBody,
    UploadFields,
    to_document_deletion_body,
    to_document_page_body,
    to_document_with_passages_body,
    to_ingestion_report_body,
    to_source_deletion_body,
)
from gateway.http.models.jobs import JobBody, to_job_body
from gateway.http.multipart import uploaded_file
from gateway.http.responses import JsonResponse
from gateway.http.routes.jobs import location_of
from gateway.ingestion_ports import DocumentJobs
from gateway.uploads import Uploads


def document_routes(catalogue: Catalogue, uploads: Uploads, jobs: DocumentJobs) -> APIRouter:
    """Returns the routes of documents."""
    router = APIRouter(tags=["documents"])

    @router.post(
        "/v1/documents",
        response_model=IngestionReportBody,
        responses={202: {"model": JobBody}},
        openapi_extra=_upload_form(),
    )
    async def ingest_document(request: Request, wait: bool = True) -> JsonResponse:
        """Takes one file in; it is searchable once this answers.

        Without `wait`, answers 202 with a job as soon as the file is received for good.
        """
        async with uploaded_file(request) as (file, content):
            if wait:
                report = await uploads.take_in(file, content)
                return JsonResponse(to_ingestion_report_body(report))
            job = await jobs.submit_documents(only(SubmittedFile(file, content)))
        return JsonResponse(to_job_body(job), 202, {"Location": location_of(job)})

    @router.post("/v1/documents/rechunk", response_model=IngestionReportBody)
    async def rechunk_document(workspace: str, external_id: str) -> JsonResponse:
        """Cuts one document anew from its kept file, as its workspace is set now."""
        report = await uploads.rechunk(workspace, external_id)
        return JsonResponse(to_ingestion_report_body(report))

    @router.get("/v1/documents", response_model=DocumentPageBody)
    async def list_documents(
        workspace: str, page_size: int = 0, page_token: str = ""
    ) -> JsonResponse:
        """Lists documents by external id in pages of 50."""
        page = await catalogue.list_documents(workspace, page_size, page_token)
        return JsonResponse(to_document_page_body(page))

    @router.get("/v1/documents/{external_id:path}", response_model=DocumentWithPassagesBody)
    async def get_document(external_id: str, workspace: str) -> JsonResponse:
        """Reads one document with its passages."""
        stored = await catalogue.get_document(workspace, external_id)
        return JsonResponse(to_document_with_passages_body(stored))

    @router.delete("/v1/documents", response_model=SourceDeletionBody)
    async def delete_source(workspace: str, source_uri: str) -> JsonResponse:
        """Deletes the documents that come from one source."""
        deletion = await catalogue.delete_source(workspace, source_uri)
        return JsonResponse(to_source_deletion_body(deletion))

    @router.delete("/v1/documents/{external_id:path}", response_model=DocumentDeletionBody)
    async def delete_document(external_id: str, workspace: str) -> JsonResponse:
        """Deletes one document."""
        deletion = await catalogue.delete_document(workspace, external_id)
        return JsonResponse(to_document_deletion_body(deletion))

    return router


async def only(file: SubmittedFile) -> AsyncIterator[SubmittedFile]:
    """Yields a single file."""
    yield file


def _upload_form() -> dict[str, Any]:
    """Describes the form for /docs, since it is read part by part and not by FastAPI."""
    schema = UploadFields.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    schema["properties"]["metadata"] = {"type": "string", "description": "JSON object"}
    schema["properties"]["file"] = {"type": "string", "format": "binary"}
    schema["required"] = ["file", *schema["required"]]
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    }
