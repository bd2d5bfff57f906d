"""Serves SearchService."""

import grpc.aio

from justesse.retriever.v1 import search_pb2, search_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.wire.explanations import explanation_request_from, explanation_response
from retriever_svc.wire.filters import filter_from
from retriever_svc.wire.search_requests import search_request_from
from retriever_svc.wire.search_responses import search_response
from retriever_svc.wire.stored_documents import found_response, page_request_from


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Finds passages through the engine, and explains searches."""

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

    async def ExplainPassage(
        self,
        request: search_pb2.ExplainPassageRequest,
        context: grpc.aio.ServicerContext[
            search_pb2.ExplainPassageRequest, search_pb2.ExplainPassageResponse
        ],
    ) -> search_pb2.ExplainPassageResponse:
        asked = explanation_request_from(request)
        explanation = await self._engine.explain_passages(asked)
        return explanation_response(explanation)

    async def FindDocuments(
        self,
        request: search_pb2.FindDocumentsRequest,
        context: grpc.aio.ServicerContext[
            search_pb2.FindDocumentsRequest, search_pb2.FindDocumentsResponse
        ],
    ) -> search_pb2.FindDocumentsResponse:
        condition = filter_from(request.filter, "filter")
        asked = page_request_from(request)
        page = await self._engine.find_documents(
            asked.workspace, condition, page_size=asked.page_size, after=asked.after
        )
        return found_response(page)
