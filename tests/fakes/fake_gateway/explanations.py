"""The part of the fake gateway that explains searches."""

from chassis.errors import NotFound
from chassis.interception import ServicerContext
from justesse.gateway.v1 import explanations_pb2, explanations_pb2_grpc, search_pb2
from tests.fakes.fake_gateway.search import search_response
from tests.fakes.fake_gateway.state import SPACE, GatewayState, fail

EXPLAINED_ID = "shipments/retards.pdf"


def explanation_response(request_id: str) -> explanations_pb2.ExplainSearchResponse:
    """An explanation of one hit, one passage beyond the limit and sixteen in no list."""
    found = search_response(request_id)
    returned = explanations_pb2.ExplainedPassage(
        passage_id="p1",
        chunk_index=4,
        heading_path=["Analyse des retards de livraison", "Causes"],
        location="page 3",
        outcome=explanations_pb2.EXPECTATION_OUTCOME_RETURNED,
        detail="returned; place 1 of 2",
        rank=1,
        standings=[
            explanations_pb2.ListStanding(
                list_name=SPACE,
                query_index=1,
                rank=2,
                effective_rank=2.5,
                score=0.875,
                contribution=0.016,
                share=0.5,
            ),
            explanations_pb2.ListStanding(list_name="bm25", rank=34, effective_rank=34, score=12.5),
        ],
        fused_rank=3,
        fused_score=0.032,
        matched_terms=[
            explanations_pb2.MatchedTerm(term="retard", weight=9.25),
            explanations_pb2.MatchedTerm(term="livraison", weight=3.25),
        ],
        space_scores=[search_pb2.SpaceScore(space_id=SPACE, cosine=0.875)],
        bm25_score=12.5,
        rerank=explanations_pb2.RerankStep(
            rank_before=3,
            rank_after=1,
            score=0.875,
            formula_parts=explanations_pb2.FormulaParts(
                space_id=SPACE, similarity_share=0.75, lexical_share=1.0, similarity_weight=0.5
            ),
            provider="embedded",
            model="formula",
        ),
    )
    beyond = explanations_pb2.ExplainedPassage(
        passage_id="p9",
        chunk_index=5,
        outcome=explanations_pb2.EXPECTATION_OUTCOME_OVER_LIMIT,
        detail="place 3 in the final order; the limit is 2",
        rank=3,
        rerank=explanations_pb2.RerankStep(
            rank_before=2, rank_after=3, provider="mistral", model="small"
        ),
    )
    lost = [
        explanations_pb2.ExplainedPassage(
            passage_id=f"lost{index}",
            chunk_index=index,
            outcome=explanations_pb2.EXPECTATION_OUTCOME_IN_NO_LIST,
            detail="no list holds it among its first 20",
        )
        for index in range(6, 22)
    ]
    return explanations_pb2.ExplainSearchResponse(
        source=found.hits[0].source,
        passage_count=22,
        passages=[returned, beyond, *lost],
        searched_queries=found.searched_queries,
        rewrite_origin=explanations_pb2.REWRITE_ORIGIN_MODEL,
        standalone_question="Pourquoi des retards au Havre ?",
        lists=[
            explanations_pb2.SearchedList(list_name="bm25", hit_count=7, exact=True),
            explanations_pb2.SearchedList(list_name=SPACE, query_index=1, hit_count=20),
        ],
        list_length=20,
        candidate_count=24,
        limit=2,
        documents_changed=True,
        receipt=found.receipt,
    )


class FakeExplanations(explanations_pb2_grpc.ExplanationServiceServicer):
    """Explains one document, always alike."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def ExplainSearch(
        self, request: explanations_pb2.ExplainSearchRequest, context: ServicerContext
    ) -> explanations_pb2.ExplainSearchResponse:
        """Knows no other document."""
        await self._state.enter("ExplainSearch", context)
        self._state.explanations.append(request)
        if request.external_id != EXPLAINED_ID:
            await fail(
                context,
                NotFound(f"no document {request.external_id!r}", reason="DOCUMENT_NOT_FOUND"),
            )
        response = explanation_response(self._state.request_ids[-1])
        if request.HasField("chunk_index"):
            kept = [one for one in response.passages if one.chunk_index == request.chunk_index]
            del response.passages[:]
            response.passages.extend(kept)
        return response
