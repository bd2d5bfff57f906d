"""Searches on a real gRPC server over fakes."""

from __future__ import annotations

import grpc
import grpc.aio
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidArgument, Unavailable
from justesse.gateway.v1 import (
    filters_pb2,
    search_pb2,
    search_pb2_grpc,
)
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.spaces import SPACE


async def test_a_search_answers_with_hits_and_receipt(channel: grpc.aio.Channel) -> None:
    """Order, source, scores and stages arrive; the limit not set is 8."""
    stub = search_pb2_grpc.SearchServiceStub(channel)

    answer = await stub.SearchPassages(
        search_pb2.SearchPassagesRequest(workspace="negoce", query="retards")
    )

    first = answer.hits[0]
    assert [hit.passage_id for hit in answer.hits] == ["p3", "p2", "p1"]
    assert (first.rank, first.text, list(first.heading_path)) == (1, "Texte de p3.", ["Partie"])
    assert first.source.metadata["week"].number_value == 12.0
    assert (first.scores.fused_rank, first.scores.rerank_rank) == (3, 1)
    assert first.scores.space_scores[0].space_id == SPACE.space_id
    assert not first.scores.space_scores[0].HasField("best_window_cosine")
    assert [rank.list_name for rank in first.scores.list_ranks] == ["bm25", SPACE.space_id]
    assert [report.stage for report in answer.receipt.stages] == [
        "rewrite",
        "embed",
        "search",
        "rerank",
    ]
    assert answer.receipt.stages[0].outcome == search_pb2.STAGE_OUTCOME_SKIPPED
    assert not answer.receipt.stages[3].HasField("cost")
    assert [(cost.amount, cost.currency) for cost in answer.receipt.costs] == [(0.125, "EUR")]
    assert list(answer.searched_queries) == ["retards"]


@pytest.mark.parametrize(
    ("request_message", "field"),
    [
        (search_pb2.SearchPassagesRequest(query="x"), "workspace"),
        (search_pb2.SearchPassagesRequest(workspace="negoce"), "query"),
        (search_pb2.SearchPassagesRequest(workspace="negoce", query="x" * 100_000), "query"),
        (search_pb2.SearchPassagesRequest(workspace="negoce", query="x", limit=0), "limit"),
        (search_pb2.SearchPassagesRequest(workspace="negoce", query="x", limit=10**6), "limit"),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce", query="x", history=[search_pb2.ConversationTurn(text="y")]
            ),
            "history[0].role",
        ),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce", query="x", filter=filters_pb2.Filter()
            ),
            "filter",
        ),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce",
                query="x",
                filter=filters_pb2.Filter(equals=filters_pb2.Comparison(field="category")),
            ),
            "filter.equals.value",
        ),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce",
                query="x",
                context={"a": filters_pb2.MetadataValue(number_value=float("nan"))},
            ),
            "context.a",
        ),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce",
                query="x",
                context={"a": filters_pb2.MetadataValue(time_value=Timestamp(seconds=10**15))},
            ),
            "context.a",
        ),
        (
            search_pb2.SearchPassagesRequest(
                workspace="negoce", query="x", thresholds=[filters_pb2.Threshold(space_id="s")]
            ),
            "thresholds[0]",
        ),
    ],
)
async def test_a_wrong_search_is_refused_by_field(
    channel: grpc.aio.Channel,
    mesh: MeshOfFakes,
    request_message: search_pb2.SearchPassagesRequest,
    field: str,
) -> None:
    """INVALID_ARGUMENT names the field before any service is called."""
    stub = search_pb2_grpc.SearchServiceStub(channel)

    status, error = await refusal(stub.SearchPassages(request_message))

    assert status == "INVALID_ARGUMENT"
    assert isinstance(error, InvalidArgument)
    assert error.violations[0].field == field
    assert not mesh.retriever.described


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (
            Unavailable("the retriever cannot be reached", reason="RETRIEVER_UNREACHABLE"),
            "UNAVAILABLE",
        ),
        (ZeroDivisionError("secret"), "INTERNAL"),
    ],
)
async def test_errors_of_the_retriever_reach_the_caller(
    channel: grpc.aio.Channel, mesh: MeshOfFakes, error: Exception, status: str
) -> None:
    """A typed error keeps its words; a bug shows nothing of itself."""
    mesh.retriever.behaviour.error = error
    stub = search_pb2_grpc.SearchServiceStub(channel)
    request = search_pb2.SearchPassagesRequest(workspace="negoce", query="x")

    seen, said = await refusal(stub.SearchPassages(request))

    assert seen == status
    assert ("retriever" in said.message) is (status == "UNAVAILABLE")
    assert "secret" not in said.message


async def test_a_bug_beside_another_stage_is_internal(
    channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """An error from the two stages that run side by side fails the call, without its words."""
    mesh.embedder.behaviour.error = ZeroDivisionError("secret")
    stub = search_pb2_grpc.SearchServiceStub(channel)
    request = search_pb2.SearchPassagesRequest(workspace="negoce", query="x")

    status, said = await refusal(stub.SearchPassages(request))

    assert status == "INTERNAL"
    assert "secret" not in said.message
