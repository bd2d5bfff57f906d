"""The rewriter contract, answered: decode, call, encode."""

import grpc.aio

from chassis.server import ServedService
from justesse.rewriter.v1 import rewriter_pb2 as pb
from justesse.rewriter.v1 import rewriter_pb2_grpc
from rewriter_svc.limits import RequestLimits
from rewriter_svc.query_rewriter import QueryRewriter
from rewriter_svc.wire import rewrite_request_from, to_response

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["RewriterService"].full_name


class RewriterServicer(rewriter_pb2_grpc.RewriterServiceServicer):
    """Rewrites queries; answers with a usable query in every case."""

    def __init__(self, rewriter: QueryRewriter, limits: RequestLimits) -> None:
        self._rewriter = rewriter
        self._limits = limits

    async def RewriteQuery(
        self,
        request: pb.RewriteQueryRequest,
        context: grpc.aio.ServicerContext[pb.RewriteQueryRequest, pb.RewriteQueryResponse],
    ) -> pb.RewriteQueryResponse:
        """Rewrites one query; InvalidArgument where the request breaks a bound."""
        rewrite = await self._rewriter.rewrite(rewrite_request_from(request, self._limits))
        return to_response(rewrite)


def served(servicer: RewriterServicer) -> ServedService:
    """Returns the service under its contract's name, ready to be served."""
    return ServedService(
        SERVICE_NAME,
        lambda server: rewriter_pb2_grpc.add_RewriterServiceServicer_to_server(servicer, server),
    )
