"""The ingestion role's re-embedding over gRPC."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import grpc

from gateway.clients.service_errors import errors_of
from gateway.reembedding import ReembeddingEvent, ReembeddingRequest
from gateway.wire.spaces import reembedding_event_from, to_reembedding_request
from justesse.gateway.v1 import spaces_pb2_grpc


class ReembeddingClient:
    """Implements the `Reembedding` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = spaces_pb2_grpc.SpaceServiceStub(channel)

    async def reembed(self, request: ReembeddingRequest) -> AsyncGenerator[ReembeddingEvent, None]:
        """Passes events on as they come; closing the generator cancels the call."""
        call = self._stub.ReembedWorkspace(to_reembedding_request(request))
        try:
            with errors_of("ingestion role"):
                async for response in call:
                    event = reembedding_event_from(response)
                    if event is not None:
                        yield event
        finally:
            call.cancel()
