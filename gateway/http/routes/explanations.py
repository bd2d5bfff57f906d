"""Explaining searches over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.explanations import (
    ExplainBody,
    SearchExplanationBody,
    to_search_explanation_body,
)
from gateway.http.responses import JsonResponse
from gateway.search_explanations import SearchExplanations


def explanation_routes(explanations: SearchExplanations) -> APIRouter:
    """Returns the route of explaining."""
    router = APIRouter(tags=["search"], route_class=StrictJsonRoute)

    @router.post("/v1/explain", response_model=SearchExplanationBody)
    async def explain_search(body: ExplainBody) -> JsonResponse:
        """Says what a search does with the passages of a document, and why."""
        explanation = await explanations.explain(body.question(), body.expectation())
        return JsonResponse(to_search_explanation_body(explanation))

    return router
