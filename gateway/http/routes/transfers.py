"""Archives of workspaces over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import StreamingResponse

from chassis.errors import ServiceError
from gateway.archives.archives import Archives
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.transfers import ImportReportBody
from gateway.http.responses import JsonResponse

_log = structlog.get_logger("gateway.http.transfers")

MEDIA_TYPE = "application/octet-stream"


def transfer_routes(archives: Archives) -> APIRouter:
    """Returns the routes of archives."""
    router = APIRouter(tags=["workspaces"], route_class=StrictJsonRoute)

    @router.get(
        "/v1/workspaces/{slug}/export",
        response_class=StreamingResponse,
        responses={200: {"description": "an archive", "content": {MEDIA_TYPE: {}}}},
    )
    async def export_workspace(slug: str) -> StreamingResponse:
        """Sends an archive of a workspace; one that breaks off is told from a whole one."""
        archive = archives.export(slug)
        first = await anext(archive)
        return StreamingResponse(
            _following(first, archive),
            media_type=MEDIA_TYPE,
            headers={"Content-Disposition": f'attachment; filename="{slug}.justesse"'},
        )

    @router.post(
        "/v1/workspaces/{slug}/import",
        response_model=ImportReportBody,
        status_code=201,
        openapi_extra={"requestBody": {"content": {MEDIA_TYPE: {}}, "required": True}},
    )
    async def import_workspace(slug: str, request: Request) -> JsonResponse:
        """Makes a new workspace of an archive, which is the body."""
        report = await archives.import_as(slug, request.stream())
        return JsonResponse(
            ImportReportBody(
                document_count=report.document_count,
                passage_count=report.passage_count,
                vector_count=report.vector_count,
                glossary_entry_count=report.glossary_entry_count,
                switch_override_count=report.switch_override_count,
            ),
            201,
        )

    return router


async def _following(
    first: bytes, archive: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(archive):
        yield first
        try:
            async for part in archive:
                yield part
        except ServiceError as error:
            # Too late for an answer of its own: the connection is closed before the end.
            _log.warning("an export broke off", error=str(error))
            raise
