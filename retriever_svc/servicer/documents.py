"""Serves DocumentService."""

from collections.abc import AsyncIterator

import grpc.aio

from justesse.retriever.v1 import documents_pb2, documents_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.wire.parents import parent_ids_from, parents_response
from retriever_svc.wire.stored_documents import (
    document_id_from,
    document_response,
    page_request_from,
    page_response,
    removal_response,
)
from retriever_svc.wire.uploads import UploadLimits, upsert_from, upsert_response


class DocumentServicer(documents_pb2_grpc.DocumentServiceServicer):
    """Stores, reads and deletes documents through the engine."""

    def __init__(self, engine: RetrievalEngine, limits: UploadLimits) -> None:
        self._engine = engine
        self._limits = limits

    async def UpsertDocument(
        self,
        request_iterator: AsyncIterator[documents_pb2.UpsertDocumentRequest],
        context: grpc.aio.ServicerContext[
            documents_pb2.UpsertDocumentRequest, documents_pb2.UpsertDocumentResponse
        ],
    ) -> documents_pb2.UpsertDocumentResponse:
        upsert = await upsert_from(request_iterator, self._limits)
        receipt = await self._engine.upsert_document(upsert)
        return upsert_response(receipt)

    async def DeleteDocument(
        self,
        request: documents_pb2.DeleteDocumentRequest,
        context: grpc.aio.ServicerContext[
            documents_pb2.DeleteDocumentRequest, documents_pb2.DeleteDocumentResponse
        ],
    ) -> documents_pb2.DeleteDocumentResponse:
        external_id = document_id_from(request)
        removal = await self._engine.delete_document(request.workspace, external_id)
        return removal_response(removal)

    async def GetDocument(
        self,
        request: documents_pb2.GetDocumentRequest,
        context: grpc.aio.ServicerContext[
            documents_pb2.GetDocumentRequest, documents_pb2.GetDocumentResponse
        ],
    ) -> documents_pb2.GetDocumentResponse:
        external_id = document_id_from(request)
        stored = await self._engine.get_document(
            request.workspace, external_id, include_passages=request.include_passages
        )
        return document_response(stored)

    async def ReadParents(
        self,
        request: documents_pb2.ReadParentsRequest,
        context: grpc.aio.ServicerContext[
            documents_pb2.ReadParentsRequest, documents_pb2.ReadParentsResponse
        ],
    ) -> documents_pb2.ReadParentsResponse:
        parents = await self._engine.read_parents(request.workspace, parent_ids_from(request))
        return parents_response(parents)

    async def ListDocuments(
        self,
        request: documents_pb2.ListDocumentsRequest,
        context: grpc.aio.ServicerContext[
            documents_pb2.ListDocumentsRequest, documents_pb2.ListDocumentsResponse
        ],
    ) -> documents_pb2.ListDocumentsResponse:
        asked = page_request_from(request)
        page = await self._engine.list_documents(
            asked.workspace, page_size=asked.page_size, after=asked.after
        )
        return page_response(page)
