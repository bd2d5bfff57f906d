"""Searches over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.searches import Searches
from gateway.wire.search import question_from, to_search_response
from justesse.gateway.v1 import search_pb2, search_pb2_grpc


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Serves justesse.gateway.v1.SearchService."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches

    async def SearchPassages(
        self, request: search_pb2.SearchPassagesRequest, context: ServicerContext
    ) -> search_pb2.SearchPassagesResponse:
        """Finds the passages that answer a question."""
        question = question_from(request)
        found = await self._searches.search(question)
        return to_search_response(found)
