"""Contexts over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.contexts import Contexts
from gateway.wire.context import to_context_response, wishes_from
from gateway.wire.search import question_from
from justesse.gateway.v1 import context_pb2, context_pb2_grpc


class ContextServicer(context_pb2_grpc.ContextServiceServicer):
    """Serves justesse.gateway.v1.ContextService."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    async def BuildContext(
        self, request: context_pb2.BuildContextRequest, context: ServicerContext
    ) -> context_pb2.BuildContextResponse:
        """Builds a context."""
        question = question_from(request.search)
        return to_context_response(await self._contexts.build(question, wishes_from(request)))
