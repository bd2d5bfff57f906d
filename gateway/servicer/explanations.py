"""Explanations of searches over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.search_explanations import SearchExplanations
from gateway.wire.explanations import expectation_from, to_explanation_response
from gateway.wire.search import question_from
from justesse.gateway.v1 import explanations_pb2, explanations_pb2_grpc


class ExplanationServicer(explanations_pb2_grpc.ExplanationServiceServicer):
    """Serves justesse.gateway.v1.ExplanationService."""

    def __init__(self, explanations: SearchExplanations) -> None:
        self._explanations = explanations

    async def ExplainSearch(
        self, request: explanations_pb2.ExplainSearchRequest, context: ServicerContext
    ) -> explanations_pb2.ExplainSearchResponse:
        """Explains what a search does with what was expected of it."""
        question = question_from(request.search)
        explanation = await self._explanations.explain(question, expectation_from(request))
        return to_explanation_response(explanation)
