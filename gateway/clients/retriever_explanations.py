"""Explanations of the retriever over gRPC."""

from __future__ import annotations

import grpc

from gateway.clients.retriever_search import space_score_from, to_search_request
from gateway.clients.service_errors import errors_of
from gateway.explanations import (
    DocumentStandings,
    ExpectationOutcome,
    ListStanding,
    MatchedTerm,
    PassageStandings,
)
from gateway.searching import PassageSearch, list_name_of
from justesse.retriever.v1 import search_pb2, search_pb2_grpc

_OUTCOMES = {
    search_pb2.PASSAGE_OUTCOME_RETURNED: ExpectationOutcome.RETURNED,
    search_pb2.PASSAGE_OUTCOME_FILTERED_OUT: ExpectationOutcome.FILTERED_OUT,
    search_pb2.PASSAGE_OUTCOME_IN_NO_LIST: ExpectationOutcome.IN_NO_LIST,
    search_pb2.PASSAGE_OUTCOME_UNDER_THRESHOLD: ExpectationOutcome.UNDER_THRESHOLD,
    search_pb2.PASSAGE_OUTCOME_OVER_DOCUMENT_BOUND: ExpectationOutcome.OVER_DOCUMENT_BOUND,
    search_pb2.PASSAGE_OUTCOME_OVER_LIMIT: ExpectationOutcome.OVER_LIMIT,
}


class RetrieverExplanations:
    """Implements the explaining half of the `PassageIndex` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._explanations = search_pb2_grpc.SearchServiceStub(channel)

    async def explain_passages(
        self, search: PassageSearch, external_id: str, *, timeout: float | None = None
    ) -> DocumentStandings:
        """Says what a search does with each passage of a document, found ones first."""
        request = search_pb2.ExplainPassageRequest(
            search=to_search_request(search), external_id=external_id
        )
        with errors_of("retriever"):
            response = await self._explanations.ExplainPassage(request, timeout=timeout)
        return DocumentStandings(tuple(map(_passage_from, response.passages)), response.applied_seq)


def _passage_from(message: search_pb2.PassageExplanation) -> PassageStandings:
    return PassageStandings(
        passage_id=message.passage_id,
        chunk_index=message.chunk_index,
        heading_path=tuple(message.heading_path),
        location=message.location,
        # An outcome this build does not know: the words still say it.
        outcome=_OUTCOMES.get(message.outcome, ExpectationOutcome.IN_NO_LIST),
        detail=message.detail,
        fused_rank=message.fused_rank if message.HasField("fused_rank") else None,
        fused_score=message.fused_score if message.HasField("fused_score") else None,
        standings=tuple(
            ListStanding(
                list_name=list_name_of(standing.space_id),
                query_index=standing.variant_index,
                rank=standing.rank,
                effective_rank=standing.effective_rank,
                score=standing.score,
                contribution=standing.contribution,
            )
            for standing in message.standings
        ),
        matched_terms=tuple(
            MatchedTerm(matched.term, matched.weight) for matched in message.matched_terms
        ),
        space_scores=tuple(map(space_score_from, message.space_scores)),
        bm25_score=message.bm25_score,
    )
