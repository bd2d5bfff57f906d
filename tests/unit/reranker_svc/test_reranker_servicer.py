"""The reranker over a socket, in this process and in its own."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument
from chassis.metrics import Metrics
from justesse.reranker.v1 import reranker_pb2 as pb
from justesse.reranker.v1 import reranker_pb2_grpc
from reranker_svc.service import running_reranker
from reranker_svc.settings import RerankerSettings
from tests.fakes.service_process import ServiceProcess

if TYPE_CHECKING:
    # Exists for the type checker only.
    from justesse.reranker.v1.reranker_pb2_grpc import RerankerServiceAsyncStub as Stub

REQUEST = pb.RerankPassagesRequest(
    workspace="acme",
    question="Combien de conteneurs ?",
    candidates=[
        pb.Candidate(
            passage_id=passage_id,
            space_scores=[pb.SpaceScore(space_id="s", cosine=cosine)],
            bm25_score=bm25,
        )
        for passage_id, cosine, bm25 in (("a", 0.8, 1.0), ("b", 0.9, 3.0), ("c", 0.7, 4.0))
    ],
)


@pytest_asyncio.fixture
async def stub() -> AsyncIterator[Stub]:
    """A client of a reranker that runs in this process on a free port."""
    settings = RerankerSettings(port=0, drain_grace_s=0.0)
    async with (
        running_reranker(settings, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield reranker_pb2_grpc.RerankerServiceStub(channel)


async def test_candidates_are_sorted_by_the_formula(stub: Stub) -> None:
    """The answer holds every candidate in its new order and names the formula."""
    answer = await stub.RerankPassages(REQUEST)

    assert [passage.passage_id for passage in answer.passages] == ["b", "c", "a"]
    assert [passage.score for passage in answer.passages] == pytest.approx([0.875, 0.5, 0.375])
    assert answer.report.outcome == pb.STAGE_OUTCOME_RAN
    assert (answer.report.provider, answer.report.model) == ("embedded", "formula")
    assert (answer.formula_alone_for_s, answer.formula_similarity_weight) == (10.0, 0.5)


async def test_an_empty_request_is_answered(stub: Stub) -> None:
    """No candidates are a skipped stage."""
    answer = await stub.RerankPassages(pb.RerankPassagesRequest(question="prix"))

    assert list(answer.passages) == []
    assert answer.report.outcome == pb.STAGE_OUTCOME_SKIPPED


async def test_a_score_that_is_no_number_is_an_invalid_argument(stub: Stub) -> None:
    """The caller learns which candidate's score is wrong."""
    message = pb.RerankPassagesRequest(
        question="prix", candidates=[pb.Candidate(passage_id="a", bm25_score=math.nan)]
    )

    with pytest.raises(grpc.RpcError) as failure:
        await stub.RerankPassages(message)

    error = service_error_from(failure.value)
    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == ["candidates[0].bm25_score"]


async def test_the_weight_is_a_setting() -> None:
    """With all weight on BM25 the order is that of BM25."""
    settings = RerankerSettings(port=0, drain_grace_s=0.0, similarity_weight=0.0)
    async with (
        running_reranker(settings, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        answer = await reranker_pb2_grpc.RerankerServiceStub(channel).RerankPassages(REQUEST)

    assert [passage.passage_id for passage in answer.passages] == ["c", "b", "a"]


def test_limits_are_settings() -> None:
    """What the settings say is what requests are checked against."""
    limits = RerankerSettings(max_question_bytes=10, max_candidates=2).request_limits()

    assert (limits.question_bytes, limits.candidates) == (10, 2)


@pytest.mark.mesh
def test_the_process_answers_and_ends_well_on_sigterm() -> None:
    """`python -m reranker_svc` serves over its socket and exits with 0 when told to stop."""
    with ServiceProcess("reranker_svc", "JUSTESSE_RERANKER_") as process:
        with grpc.insecure_channel(process.address) as channel:
            answer = reranker_pb2_grpc.RerankerServiceStub(channel).RerankPassages(
                REQUEST, timeout=10
            )

        assert [passage.passage_id for passage in answer.passages] == ["b", "c", "a"]
        assert process.terminate() == 0
