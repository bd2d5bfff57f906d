"""The reranker contract, answered: decode, call, encode."""

import grpc.aio

from chassis.server import ServedService
from justesse.reranker.v1 import reranker_pb2 as pb
from justesse.reranker.v1 import reranker_pb2_grpc
from reranker_svc.limits import RequestLimits
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.wire import rerank_request_from, to_response

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["RerankerService"].full_name


class RerankerServicer(reranker_pb2_grpc.RerankerServiceServicer):
    """Reranks passages; the answer is a permutation of the candidates."""

    def __init__(self, reranker: PassageReranker, limits: RequestLimits) -> None:
        self._reranker = reranker
        self._limits = limits

    async def RerankPassages(
        self,
        request: pb.RerankPassagesRequest,
        context: grpc.aio.ServicerContext[pb.RerankPassagesRequest, pb.RerankPassagesResponse],
    ) -> pb.RerankPassagesResponse:
        """Sorts candidates for one question; InvalidArgument where the request breaks a bound."""
        ranking = await self._reranker.rerank(rerank_request_from(request, self._limits))
        return to_response(ranking)


def served(servicer: RerankerServicer) -> ServedService:
    """Returns the service under its contract's name, ready to be served."""
    return ServedService(
        SERVICE_NAME,
        lambda server: reranker_pb2_grpc.add_RerankerServiceServicer_to_server(servicer, server),
    )
