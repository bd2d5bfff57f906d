"""Glossaries over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from gateway.glossary.glossaries import Glossaries
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.glossary import (
    GlossaryChangeBody,
    GlossaryDeletionBody,
    GlossaryPageBody,
    PutGlossaryBody,
    to_glossary_change_body,
    to_glossary_deletion_body,
    to_glossary_page_body,
)
from gateway.http.responses import JsonResponse


def glossary_routes(glossaries: Glossaries) -> APIRouter:
    """Returns the routes of glossaries."""
    router = APIRouter(tags=["glossary"], route_class=StrictJsonRoute)

    @router.get("/v1/workspaces/{slug}/glossary", response_model=GlossaryPageBody)
    async def list_glossary_entries(
        slug: str, page_size: int = 0, page_token: str = ""
    ) -> JsonResponse:
        """Lists entries by term in pages of 50."""
        page = await glossaries.page(slug, page_size, page_token)
        return JsonResponse(to_glossary_page_body(page))

    @router.put("/v1/workspaces/{slug}/glossary", response_model=GlossaryChangeBody)
    async def put_glossary_entries(slug: str, body: PutGlossaryBody) -> JsonResponse:
        """Adds entries, and replaces those of equal terms; all of them or none."""
        change = await glossaries.put(slug, body.glossary_entries(), replace_all=body.replace_all)
        return JsonResponse(to_glossary_change_body(change))

    @router.delete("/v1/workspaces/{slug}/glossary", response_model=GlossaryDeletionBody)
    async def delete_glossary_entries(
        slug: str, term: Annotated[list[str], Query(description="term of an entry")]
    ) -> JsonResponse:
        """Deletes the entries of one or more terms."""
        return JsonResponse(to_glossary_deletion_body(await glossaries.delete(slug, term)))

    return router
