"""The reranker over gRPC."""

from __future__ import annotations

from collections.abc import Sequence

import grpc

from chassis.errors import Internal
from gateway.clients.service_errors import errors_of
from gateway.clients.stage_reports import stage_report_from
from gateway.reranking import Candidate, FormulaParts, RankedPassage, Ranking
from justesse.reranker.v1 import reranker_pb2, reranker_pb2_grpc


class RerankerClient:
    """Implements the `Reranker` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = reranker_pb2_grpc.RerankerServiceStub(channel)

    async def rerank(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        workspace: str,
        model_candidate_count: int = 0,
        include_formula_parts: bool = False,
        timeout: float | None = None,
    ) -> Ranking:
        """Sorts at most 200 candidates; Internal where the answer is no permutation of them."""
        request = reranker_pb2.RerankPassagesRequest(
            workspace=workspace,
            question=question,
            candidates=map(_to_candidate, candidates),
            model_candidate_count=model_candidate_count,
            include_formula_parts=include_formula_parts,
        )
        with errors_of("reranker"):
            response = await self._stub.RerankPassages(request, timeout=timeout)
        asked = sorted(candidate.passage_id for candidate in candidates)
        if sorted(passage.passage_id for passage in response.passages) != asked:
            raise Internal(
                f"the reranker answered {len(candidates)} candidates with "
                f"{len(response.passages)} passages that are not the same",
                reason="RERANKER_ANSWER_BROKEN",
            )
        return Ranking(
            passages=tuple(map(_passage_from, response.passages)),
            report=stage_report_from("rerank", response.report),
        )


def _passage_from(message: reranker_pb2.RankedPassage) -> RankedPassage:
    return RankedPassage(
        message.passage_id,
        message.score if message.HasField("score") else None,
        _parts_from(message.formula_parts) if message.HasField("formula_parts") else None,
    )


def _parts_from(message: reranker_pb2.FormulaParts) -> FormulaParts:
    return FormulaParts(
        space_id=message.space_id,
        similarity_share=(
            message.similarity_share if message.HasField("similarity_share") else None
        ),
        lexical_share=message.lexical_share if message.HasField("lexical_share") else None,
        similarity_weight=message.similarity_weight,
    )


def _to_candidate(candidate: Candidate) -> reranker_pb2.Candidate:
    return reranker_pb2.Candidate(
        passage_id=candidate.passage_id,
        title=candidate.title,
        text=candidate.text,
        space_scores=[
            reranker_pb2.SpaceScore(
                space_id=score.space_id,
                cosine=score.cosine,
                best_window_cosine=score.best_window_cosine,
            )
            for score in candidate.space_scores
        ],
        bm25_score=candidate.bm25_score,
    )
