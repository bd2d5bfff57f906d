"""Searching over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.search import FoundPassagesBody, SearchBody, to_found_passages_body
from gateway.http.responses import JsonResponse
from gateway.searches import Searches


def search_routes(searches: Searches) -> APIRouter:
    """Returns the routes of searching."""
    router = APIRouter(tags=["search"], route_class=StrictJsonRoute)

    @router.post("/v1/search", response_model=FoundPassagesBody)
    async def search_passages(body: SearchBody) -> JsonResponse:
        """Finds the passages that answer a question."""
        found = await searches.search(body.question())
        return JsonResponse(to_found_passages_body(found))

    return router
