"""Explanations at both doors: equal answers, equal refusals."""

from __future__ import annotations

import json

import grpc.aio
import httpx
import pytest

from gateway.explanations import (
    ListStanding,
)
from justesse.gateway.v1 import explanations_pb2, explanations_pb2_grpc, search_pb2
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.standings import standings


@pytest.mark.parametrize(
    ("fields", "violation"),
    [
        ({"external_id": " "}, "external_id"),
        ({"external_id": "a\x00.md"}, "external_id"),
        ({"external_id": "x" * 513}, "external_id"),
        ({"external_id": "a.md", "chunk_index": -1}, "chunk_index"),
        ({"external_id": "a.md", "query": " "}, "query"),
        ({"external_id": "a.md", "query": "é" * 4097}, "query"),
    ],
)
async def test_a_wrong_request_is_refused_by_field_at_both_doors(
    channel: grpc.aio.Channel, http: httpx.AsyncClient, fields: dict[str, object], violation: str
) -> None:
    """Equal fields and equal words over gRPC and HTTP."""
    options = {"query": "retards", **fields}
    stub = explanations_pb2_grpc.ExplanationServiceStub(channel)
    search = search_pb2.SearchPassagesRequest(workspace="negoce", query=str(options.pop("query")))
    request = explanations_pb2.ExplainSearchRequest(search=search, **options)  # type: ignore[arg-type]
    status, said = await refusal(stub.ExplainSearch(request))
    answer = await http.post("/v1/explain", json={"workspace": "negoce", "query": "q", **fields})

    assert status == "INVALID_ARGUMENT"
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert [one["field"] for one in error["field_violations"]] == [violation]
    assert error["message"] == said.message


async def test_both_doors_say_the_same(
    channel: grpc.aio.Channel, http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Every number of the message is in the JSON, too."""
    mesh.retriever.standings["a.md"] = (
        standings("p1", fused_rank=1, places=(ListStanding("bm25", 0, 1, 2.5, 1.5, 1 / 61 / 2),)),
    )
    stub = explanations_pb2_grpc.ExplanationServiceStub(channel)
    search = search_pb2.SearchPassagesRequest(workspace="negoce", query="retards", limit=2)
    message = await stub.ExplainSearch(
        explanations_pb2.ExplainSearchRequest(search=search, external_id="a.md", chunk_index=0)
    )
    body = {
        "workspace": "negoce",
        "query": "retards",
        "limit": 2,
        "external_id": "a.md",
        "chunk_index": 0,
    }
    answer = (await http.post("/v1/explain", json=body)).json()

    (told,), (passage,) = answer["passages"], message.passages
    assert (
        told["outcome"]
        == explanations_pb2.ExpectationOutcome.Name(passage.outcome)[len("EXPECTATION_OUTCOME_") :]
    )
    assert told["outcome"] == "OVER_LIMIT"
    assert told["rank"] == passage.rank == 3
    assert told["standings"][0]["share"] == pytest.approx(passage.standings[0].share) == 0.5
    assert told["standings"][0]["effective_rank"] == passage.standings[0].effective_rank == 2.5
    assert told["rerank"]["formula_parts"]["space_id"] == passage.rerank.formula_parts.space_id
    assert "lexical_share" not in told["rerank"]["formula_parts"]
    assert not passage.rerank.formula_parts.HasField("lexical_share")
    assert answer["source"]["title"] == message.source.title == "Titre de a.md"
    assert answer["rewrite_origin"] == "ORIGINAL"
    assert message.rewrite_origin == explanations_pb2.REWRITE_ORIGIN_ORIGINAL
    assert (answer["limit"], answer["list_length"]) == (message.limit, message.list_length)


@pytest.mark.parametrize("field", ["query", "external_id", "workspace"])
async def test_half_a_character_over_http_is_refused(http: httpx.AsyncClient, field: str) -> None:
    """JSON can write what UTF-8 cannot hold; the answer is a plain refusal."""
    fields = {"workspace": "negoce", "query": "q", "external_id": "a.md", field: "HALF"}
    body = json.dumps(fields).replace("HALF", "\\ud800")
    answer = await http.post(
        "/v1/explain", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
    assert "Traceback" not in answer.text
