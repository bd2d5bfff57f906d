"""The part of the fake gateway that answers questions."""

from chassis.errors import InvalidArgument
from chassis.interception import ServicerContext
from justesse.gateway.v1 import filters_pb2, search_pb2, search_pb2_grpc
from tests.fakes.fake_gateway.state import SPACE, UPDATE_SECONDS, GatewayState, fail


def search_response(request_id: str) -> search_pb2.SearchPassagesResponse:
    """An answer with two hits: one that every stage saw, one that only BM25 found."""
    first = search_pb2.Hit(
        rank=1,
        passage_id="p1",
        text="Le retard moyen des conteneurs au départ de Lyon est de quatre jours.",
        heading_path=["Retards", "Causes"],
        location="page 3",
        chunk_index=4,
        source=search_pb2.Source(
            external_id="shipments/retards.pdf",
            title="Analyse des retards de livraison",
            category="shipments",
            language="fr",
            version="2024-05",
            metadata={"year": filters_pb2.MetadataValue(number_value=2024)},
        ),
        scores=search_pb2.Scores(
            list_ranks=[
                search_pb2.ListRank(list_name=SPACE, query_index=0, rank=5, contribution=1 / 65),
                search_pb2.ListRank(list_name=SPACE, query_index=1, rank=2, contribution=1 / 62),
                search_pb2.ListRank(list_name="bm25", query_index=0, rank=1, contribution=1 / 61),
            ],
            fused_rank=3,
            fused_score=0.0325,
            space_scores=[search_pb2.SpaceScore(space_id=SPACE, cosine=0.875)],
            bm25_score=12.5,
            rerank_rank=1,
            rerank_score=0.96875,
        ),
    )
    first.source.update_time.seconds = UPDATE_SECONDS
    second = search_pb2.Hit(
        rank=2,
        passage_id="p2",
        text="Numéro de dossier BL-2024-117.",
        source=search_pb2.Source(external_id="orders/bl.md", title="Bons de livraison"),
        scores=search_pb2.Scores(
            list_ranks=[search_pb2.ListRank(list_name="bm25", rank=2, contribution=1 / 62)],
            fused_rank=7,
            fused_score=0.0161,
            bm25_score=3.25,
        ),
    )
    return search_pb2.SearchPassagesResponse(
        hits=[first, second],
        searched_queries=["Pourquoi des retards ?", "causes retards livraison"],
        receipt=search_pb2.Receipt(
            request_id=request_id,
            latency_ms=38.5,
            degraded=True,
            costs=[search_pb2.Cost(amount=0.00021, currency="EUR")],
            stages=[
                search_pb2.StageReport(
                    stage="rewrite",
                    outcome=search_pb2.STAGE_OUTCOME_SKIPPED,
                    reason="NOT_CONFIGURED",
                    detail="no chat model is configured",
                    latency_ms=1.25,
                ),
                search_pb2.StageReport(
                    stage="embed",
                    outcome=search_pb2.STAGE_OUTCOME_RAN,
                    provider="embedded",
                    model="multilingual-e5-small",
                    latency_ms=21,
                    input_token_count=9,
                    cost=0.00021,
                    currency="EUR",
                ),
                search_pb2.StageReport(
                    stage="search", outcome=search_pb2.STAGE_OUTCOME_RAN, latency_ms=0.75
                ),
                search_pb2.StageReport(
                    stage="rerank",
                    outcome=search_pb2.STAGE_OUTCOME_DEGRADED,
                    reason="UNAVAILABLE",
                    detail="the reranker does not answer",
                ),
            ],
        ),
    )


class FakeSearch(search_pb2_grpc.SearchServiceServicer):
    """Gives the same answer to every question."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def SearchPassages(
        self, request: search_pb2.SearchPassagesRequest, context: ServicerContext
    ) -> search_pb2.SearchPassagesResponse:
        """Refuses a blank question."""
        await self._state.enter("SearchPassages", context)
        self._state.searches.append(request)
        await self._state.documents_of(request.workspace, context)
        if not request.query.strip():
            await fail(context, InvalidArgument("query: must not be blank", field="query"))
        response = search_response(self._state.request_ids[-1])
        if request.include_parents:
            response.hits[0].parent.CopyFrom(
                search_pb2.Parent(text="Le bloc entier.", first_chunk_index=3, passage_count=2)
            )
        return response
