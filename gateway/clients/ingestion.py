"""The ingestion role over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc

from gateway.clients.service_errors import errors_of
from gateway.incoming_files import IncomingFile, IngestionReport
from gateway.wire.ingestion import ingestion_report_from, to_header
from justesse.gateway.v1 import ingestion_pb2, ingestion_pb2_grpc

MESSAGE_BYTES = 1024 * 1024
"""Most bytes of a file in one message."""


class IngestionClient:
    """Implements the `Ingestion` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = ingestion_pb2_grpc.IngestionServiceStub(channel)

    async def ingest_document(
        self, file: IncomingFile, content: AsyncIterator[bytes], *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes one file in; `content` is read only as fast as the ingestion role takes it.

        An error of `content` ends the call and is raised as it is.
        """
        call = self._stub.IngestDocument(timeout=timeout)
        try:
            with errors_of("ingestion role"):
                await self._send(call, file, content)
                response = await call
        finally:
            call.cancel()
        return ingestion_report_from(response)

    async def rechunk_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> IngestionReport:
        """Takes the kept file of a document in again; NotFound where it was not kept."""
        request = ingestion_pb2.RechunkDocumentRequest(workspace=workspace, external_id=external_id)
        with errors_of("ingestion role"):
            response = await self._stub.RechunkDocument(request, timeout=timeout)
        return ingestion_report_from(response.result)

    async def delete_originals(
        self, workspace: str, external_id: str = "", *, timeout: float | None = None
    ) -> int:
        """Deletes the kept files of a document, or of a workspace, that is gone."""
        request = ingestion_pb2.DeleteOriginalsRequest(workspace=workspace, external_id=external_id)
        with errors_of("ingestion role"):
            response = await self._stub.DeleteOriginals(request, timeout=timeout)
        return response.original_count

    async def _send(
        self,
        call: grpc.aio.StreamUnaryCall[Any, Any],
        file: IncomingFile,
        content: AsyncIterator[bytes],
    ) -> None:
        # Messages are written by hand: an error of a request iterator would reach the caller as a
        # cancelled call.
        try:
            await call.write(ingestion_pb2.IngestDocumentRequest(header=to_header(file)))
            async for chunk in content:
                for part in parts(chunk):
                    await call.write(ingestion_pb2.IngestDocumentRequest(content=part))
            await call.done_writing()
        except (asyncio.InvalidStateError, grpc.aio.InternalError):
            # The call is over before the end of the file; its status says why.
            return


def parts(chunk: bytes) -> Iterator[bytes]:
    """Cuts bytes into what one message carries."""
    for start in range(0, len(chunk), MESSAGE_BYTES):
        yield chunk[start : start + MESSAGE_BYTES]
