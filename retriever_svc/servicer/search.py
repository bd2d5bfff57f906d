"""Serves SearchService."""

import grpc.aio

from justesse.retriever.v1 import search_pb2, search_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.wire.search_requests import search_request_from
from retriever_svc.wire.search_responses import search_response


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Finds passages through the engine."""

    def __init__(self, engine: RetrievalEngine) -> None:
        self._engine = engine

    async def SearchPassages(
        self,
        request: search_pb2.SearchPassagesRequest,
        context: grpc.aio.ServicerContext[
            search_pb2.SearchPassagesRequest, search_pb2.SearchPassagesResponse
        ],
    ) -> search_pb2.SearchPassagesResponse:
        search = search_request_from(request)
        result = await self._engine.search_passages(search)
        return search_response(result)
