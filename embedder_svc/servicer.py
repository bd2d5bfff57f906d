"""The methods of the embedder's contract: decode, call, encode."""

from typing import Any

import grpc.aio

from chassis.deadline import current_deadline
from chassis.server import ServedService
from embedder_svc.embedder import Embedder
from embedder_svc.wire import embedding_to, forget_request_from, providers_to, request_from
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1 import embedder_pb2_grpc

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["EmbedderService"].full_name

_Context = grpc.aio.ServicerContext[Any, Any]


class EmbedderServicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """Serves an Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def EmbedTexts(
        self, request: pb.EmbedTextsRequest, context: _Context
    ) -> pb.EmbedTextsResponse:
        """Embeds a batch of texts; the answer keeps the order of the request."""
        wanted = request_from(request)
        embedding = await self._embedder.embed(wanted, current_deadline())
        return embedding_to(embedding)

    async def DescribeProviders(
        self, request: pb.DescribeProvidersRequest, context: _Context
    ) -> pb.DescribeProvidersResponse:
        """Describes the provider chain."""
        return providers_to(self._embedder.describe_providers())

    async def ForgetTexts(
        self, request: pb.ForgetTextsRequest, context: _Context
    ) -> pb.ForgetTextsResponse:
        """Drops the cached vectors of texts."""
        wanted = forget_request_from(request)
        return pb.ForgetTextsResponse(forgotten_count=self._embedder.forget(wanted))


def served(embedder: Embedder) -> ServedService:
    """Returns the service as a server takes it; not ready until somebody says so."""

    def register(server: grpc.aio.Server) -> None:
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(EmbedderServicer(embedder), server)

    return ServedService(SERVICE_NAME, register, ready=False)
