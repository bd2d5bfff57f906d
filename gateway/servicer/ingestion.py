"""Files over gRPC, passed on to the ingestion role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from operator import methodcaller

from chassis.interception import ServicerContext
from gateway.pace import Pace, paced
from gateway.uploads import Uploads
from gateway.wire.ingestion import incoming_file_from, to_ingestion_response
from justesse.gateway.v1 import ingestion_pb2, ingestion_pb2_grpc


class IngestionServicer(ingestion_pb2_grpc.IngestionServiceServicer):
    """Serves justesse.gateway.v1.IngestionService."""

    def __init__(self, uploads: Uploads, pace: Pace | None = None) -> None:
        self._uploads = uploads
        self._pace = pace

    async def IngestDocument(
        self,
        request_iterator: AsyncIterator[ingestion_pb2.IngestDocumentRequest],
        context: ServicerContext,
    ) -> ingestion_pb2.IngestDocumentResponse:
        """Takes one file in."""
        messages = paced(request_iterator, methodcaller("ByteSize"), self._pace)
        file, content = await incoming_file_from(messages)
        report = await self._uploads.take_in(file, content)
        return to_ingestion_response(report)

    async def RechunkDocument(
        self, request: ingestion_pb2.RechunkDocumentRequest, context: ServicerContext
    ) -> ingestion_pb2.RechunkDocumentResponse:
        """Takes the kept file of a document in again."""
        report = await self._uploads.rechunk(request.workspace, request.external_id)
        return ingestion_pb2.RechunkDocumentResponse(result=to_ingestion_response(report))

    async def DeleteOriginals(
        self, request: ingestion_pb2.DeleteOriginalsRequest, context: ServicerContext
    ) -> ingestion_pb2.DeleteOriginalsResponse:
        """Deletes kept files of what is gone."""
        count = await self._uploads.delete_originals(request.workspace, request.external_id)
        return ingestion_pb2.DeleteOriginalsResponse(original_count=count)
