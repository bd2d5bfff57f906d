"""The reranker over gRPC."""

from __future__ import annotations

import math
from collections.abc import Sequence

import grpc

from chassis.errors import Internal
from gateway.clients.service_errors import errors_of
from gateway.clients.stage_reports import stage_report_from
from gateway.reranking import Candidate, FormulaAlone, FormulaParts, RankedPassage, Ranking
from justesse.reranker.v1 import reranker_pb2, reranker_pb2_grpc


class RerankerClient:
    """Implements the `Reranker` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
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
            model_candidate_count=model_candidate_count,
            include_formula_parts=include_formula_parts,
        )
        for candidate in candidates:
            _write_candidate(request.candidates.add(), candidate)
        with errors_of("reranker"):
            response = await self._stub.RerankPassages(request, timeout=timeout)
        passages = tuple([_passage_from(passage) for passage in response.passages])
        asked = {candidate.passage_id for candidate in candidates}
        if len(passages) != len(candidates) or {each.passage_id for each in passages} != asked:
            raise Internal(
                f"the reranker answered {len(candidates)} candidates with "
                f"{len(passages)} passages that are not the same",
                reason="RERANKER_ANSWER_BROKEN",
            )
        return Ranking(
            passages=passages,
            report=stage_report_from("rerank", response.report),
            formula_alone=_formula_alone_from(response),
        )

    def connected(self) -> bool:
        """Tells whether a connection is open."""
        return self._channel.get_state() is grpc.ChannelConnectivity.READY


def _formula_alone_from(response: reranker_pb2.RerankPassagesResponse) -> FormulaAlone | None:
    """Reads for how long nobody need ask; what no reranker of ours would say counts as nothing."""
    if not response.HasField("formula_similarity_weight"):
        return None
    seconds, weight = response.formula_alone_for_s, response.formula_similarity_weight
    if not (math.isfinite(seconds) and seconds > 0.0 and 0.0 <= weight <= 1.0):
        return None
    return FormulaAlone(seconds, weight)


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


def _write_candidate(message: reranker_pb2.Candidate, candidate: Candidate) -> None:
    """Writes field by field: messages made apart would be copied into their places."""
    message.passage_id = candidate.passage_id
    message.title = candidate.title
    message.text = candidate.text
    for score in candidate.space_scores:
        written = message.space_scores.add()
        written.space_id = score.space_id
        if score.cosine is not None:
            written.cosine = score.cosine
        if score.best_window_cosine is not None:
            written.best_window_cosine = score.best_window_cosine
    if candidate.bm25_score is not None:
        message.bm25_score = candidate.bm25_score
