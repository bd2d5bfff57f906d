"""Contexts over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.contexts import Contexts
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.context import BuiltContextBody, ContextBody, to_context_body
from gateway.http.responses import JsonResponse


def context_routes(contexts: Contexts) -> APIRouter:
    """Returns the route of contexts."""
    router = APIRouter(tags=["search"], route_class=StrictJsonRoute)

    @router.post("/v1/context", response_model=BuiltContextBody)
    async def build_context(body: ContextBody) -> JsonResponse:
        """Writes what a search finds as a block of sources, with the prompts that go with it."""
        return JsonResponse(to_context_body(await contexts.build(body.question(), body.wishes())))

    return router
