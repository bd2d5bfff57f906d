"""Documents over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.catalogue import Catalogue
from gateway.wire.documents import (
    to_delete_response,
    to_delete_source_response,
    to_get_response,
    to_list_response,
)
from justesse.gateway.v1 import documents_pb2, documents_pb2_grpc


class DocumentServicer(documents_pb2_grpc.DocumentServiceServicer):
    """Serves justesse.gateway.v1.DocumentService."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def GetDocument(
        self, request: documents_pb2.GetDocumentRequest, context: ServicerContext
    ) -> documents_pb2.GetDocumentResponse:
        """Reads one document with its passages."""
        stored = await self._catalogue.get_document(request.workspace, request.external_id)
        return to_get_response(stored)

    async def ListDocuments(
        self, request: documents_pb2.ListDocumentsRequest, context: ServicerContext
    ) -> documents_pb2.ListDocumentsResponse:
        """Lists documents by external id in pages."""
        page = await self._catalogue.list_documents(
            request.workspace, request.page_size, request.page_token
        )
        return to_list_response(page)

    async def DeleteDocument(
        self, request: documents_pb2.DeleteDocumentRequest, context: ServicerContext
    ) -> documents_pb2.DeleteDocumentResponse:
        """Deletes one document."""
        deletion = await self._catalogue.delete_document(request.workspace, request.external_id)
        return to_delete_response(deletion)

    async def DeleteSource(
        self, request: documents_pb2.DeleteSourceRequest, context: ServicerContext
    ) -> documents_pb2.DeleteSourceResponse:
        """Deletes the documents of one source."""
        deletion = await self._catalogue.delete_source(request.workspace, request.source_uri)
        return to_delete_source_response(deletion)
