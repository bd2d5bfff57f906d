"""The part of the fake gateway that builds contexts."""

from chassis.interception import ServicerContext
from justesse.gateway.v1 import context_pb2, context_pb2_grpc
from tests.fakes.fake_gateway.search import search_response
from tests.fakes.fake_gateway.state import GatewayState

BLOCK = '[Source 1: "Retards"]\nLe port est saturé.'


class FakeContexts(context_pb2_grpc.ContextServiceServicer):
    """Builds the same context for everybody; nothing for the question "rien"."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def BuildContext(
        self, request: context_pb2.BuildContextRequest, context: ServicerContext
    ) -> context_pb2.BuildContextResponse:
        """Answers."""
        await self._state.enter("BuildContext", context)
        self._state.contexts.append(request)
        found = search_response(self._state.request_ids[-1])
        source = context_pb2.ContextSource(
            index=1,
            mark="[[source:shipments/retards.pdf|Retards]]",
            document_id="shipments/retards.pdf",
            title="Retards",
            source_uri="file:///retards.pdf",
            heading_path=["Causes"],
            page="page 3",
            passage_ids=["p1", "p2"],
            rank=2,
        )
        nothing = request.search.query == "rien"
        return context_pb2.BuildContextResponse(
            block="" if nothing else BLOCK,
            format=context_pb2.CONTEXT_FORMAT_NUMBERED,
            language="fr",
            sources=[] if nothing else [source],
            system_prompt="Réponds à partir des sources.",
            user_prompt=f"SOURCES-1\n{BLOCK}\nSOURCES-1\n\nQuestion : {request.search.query}",
            boundary="SOURCES-1",
            token_estimate=16,
            left_out=context_pb2.LeftOutPassages(
                superseded_count=1, over_document_bound_count=2, over_budget_count=3
            ),
            cut=True,
            searched_queries=found.searched_queries,
            receipt=found.receipt,
        )
