"""Switches, overrides and rollouts in what searches do and in their receipts, over both doors."""

from __future__ import annotations

import itertools
from typing import Any

import grpc.aio
import httpx
import pytest

from gateway.searching import SearchMode
from gateway.switches.rules import Rollout
from justesse.gateway.v1 import search_pb2, search_pb2_grpc, switches_pb2, switches_pb2_grpc
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.switch_database import RERANKING, SwitchDatabase

FEATURES = {
    "rag_query_rewrite_enabled": "rewrite",
    "rag_hybrid_search_enabled": "search",
    "rag_reranking_enabled": "rerank",
}


async def search(channel: grpc.aio.Channel, query: str = "q" * 10) -> search_pb2.Receipt:
    """Searches and returns the receipt."""
    stub = search_pb2_grpc.SearchServiceStub(channel)
    request = search_pb2.SearchPassagesRequest(workspace="negoce", query=query)
    answer = await stub.SearchPassages(request)
    receipt: search_pb2.Receipt = answer.receipt
    return receipt


def switched_off(receipt: search_pb2.Receipt) -> set[str]:
    """Returns the stages that a receipt reports as switched off."""
    off = search_pb2.STAGE_OUTCOME_SWITCHED_OFF
    return {report.stage for report in receipt.stages if report.outcome == off}


@pytest.mark.parametrize("on", list(itertools.product([True, False], repeat=3)), ids=str)
async def test_each_feature_is_off_alone(
    mesh: MeshOfFakes,
    database: SwitchDatabase,
    channel: grpc.aio.Channel,
    on: tuple[bool, bool, bool],
) -> None:
    """All eight combinations, set by plain SQL: off means not called, whatever the others are."""
    switches = switches_pb2_grpc.SwitchServiceStub(channel)
    await switches.RefreshSwitches(switches_pb2.RefreshSwitchesRequest())
    for key, value in zip(FEATURES, on, strict=True):
        database.set(key, str(value).lower())
    before = switched_off(await search(channel))
    calls = len(mesh.rewriter.calls), len(mesh.reranker.behaviour.timeouts)
    refreshed = await switches.RefreshSwitches(switches_pb2.RefreshSwitchesRequest())

    receipt = await search(channel, "another question")

    rewriting, hybrid, reranking = on
    assert before == set()
    assert {each.key: each.value for each in refreshed.switches}.items() >= {
        key: str(value).lower() for key, value in zip(FEATURES, on, strict=True)
    }.items()
    assert switched_off(receipt) == {
        stage for stage, value in (("rewrite", rewriting), ("rerank", reranking)) if not value
    }
    assert len(mesh.rewriter.calls) - calls[0] == int(rewriting)
    assert len(mesh.reranker.behaviour.timeouts) - calls[1] == int(reranking)
    mode = mesh.retriever.searches[-1].mode
    assert mode is (SearchMode.HYBRID if hybrid else SearchMode.DENSE)


async def test_an_override_holds_in_its_workspace_until_it_is_cleared(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Set, listed and cleared over HTTP; gone with the workspace."""
    path = f"/v1/workspaces/negoce/switches/{RERANKING}"
    body = {"workspace": "negoce", "query": "conteneur"}

    async def outcome() -> str:
        stages = (await http.post("/v1/search", json=body)).json()["receipt"]["stages"]
        return next(str(each["outcome"]) for each in stages if each["stage"] == "rerank")

    assert await outcome() == "RAN"
    answer = await http.put(path, json={"value": "off"})
    assert answer.json() == {"key": RERANKING, "value": "false"}
    assert await outcome() == "SWITCHED_OFF"
    listed = await http.get("/v1/workspaces/negoce/switches")
    assert listed.json() == {"overrides": [{"key": RERANKING, "value": "false"}]}

    assert (await http.delete(path)).json() == {"cleared": True}
    assert (await http.delete(path)).json() == {"cleared": False}
    assert await outcome() == "RAN"

    await http.put(path, json={"value": "false"})
    assert (await http.delete("/v1/workspaces/negoce")).status_code == 200
    assert mesh.switches.choice("negoce", "q").values.reranking_enabled
    changes = (await http.get("/v1/switches/changes?page_size=1")).json()
    assert [(each["kind"], each.get("new_value")) for each in changes["changes"]] == [
        ("OVERRIDE", None)
    ]
    assert changes["next_page_token"]


async def test_a_rollout_reaches_its_share_and_the_receipt_says_whom(
    mesh: MeshOfFakes, channel: grpc.aio.Channel
) -> None:
    """A query meets the same value each time, which is the one its variant names."""
    switches = switches_pb2_grpc.SwitchServiceStub(channel)
    await switches.SetSwitchRollout(
        switches_pb2.SetSwitchRolloutRequest(key=RERANKING, value="false", percent=50)
    )
    queries = [f"question {number}" for number in range(12)]
    rollout = Rollout(RERANKING, False, 50)
    reached = {query for query in queries if rollout.reaches("negoce", query)}
    assert 0 < len(reached) < len(queries)

    for query in queries * 2:
        receipt = await search(channel, query)
        assert ("rerank" in switched_off(receipt)) == (query in reached)
        assert receipt.variant == (f"{RERANKING}=false" if query in reached else "control")

    listed = await switches.DescribeSwitches(switches_pb2.DescribeSwitchesRequest())
    assert [(each.key, each.value, each.percent) for each in listed.rollouts] == [
        (RERANKING, "false", 50)
    ]
    assert (listed.HasField("age_s"), listed.age_s) == (True, 0.0)
    cleared = await switches.ClearSwitchRollout(
        switches_pb2.ClearSwitchRolloutRequest(key=RERANKING)
    )
    assert cleared.cleared
    assert (await search(channel, queries[0])).variant == ""
    assert len(mesh.rule_store.noted) == 2


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        ({"key": RERANKING, "value": "maybe", "percent": 5}, "INVALID_ARGUMENT", "true or false"),
        ({"key": RERANKING, "value": "false"}, "INVALID_ARGUMENT", "percent 0 must be over 0"),
        ({"key": RERANKING, "value": "false", "percent": 101}, "INVALID_ARGUMENT", "at most 100"),
        (
            {"key": RERANKING, "value": "false", "percent": float("nan")},
            "INVALID_ARGUMENT",
            "percent nan",
        ),
        ({"key": "rag_magic", "value": "false", "percent": 5}, "NOT_FOUND", "'rag_magic'"),
    ],
)
async def test_a_rollout_that_cannot_be_is_refused(
    channel: grpc.aio.Channel, request_: dict[str, Any], status: str, words: str
) -> None:
    """With the value and what is expected."""
    stub = switches_pb2_grpc.SwitchServiceStub(channel)
    told, error = await refusal(
        stub.SetSwitchRollout(switches_pb2.SetSwitchRolloutRequest(**request_))
    )

    assert told == status
    assert words in str(error)


async def test_an_override_needs_a_switch_and_a_workspace(http: httpx.AsyncClient) -> None:
    """And a value that the switch can have; a page token one that a page ended with."""
    answers = [
        await http.put("/v1/workspaces/nowhere/switches/" + RERANKING, json={"value": "off"}),
        await http.put("/v1/workspaces/negoce/switches/rag_magic", json={"value": "off"}),
        await http.put("/v1/workspaces/negoce/switches/" + RERANKING, json={"value": "7"}),
        await http.get("/v1/switches/changes?page_token=abc"),
        await http.get("/v1/switches/changes?page_size=501"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 400, 400, 400]


async def test_a_lost_rule_store_keeps_the_rules_and_refuses_changes(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Searches do not ask it; the list says what is wrong; a workspace stays whole."""
    await http.put(f"/v1/workspaces/negoce/switches/{RERANKING}", json={"value": "off"})
    mesh.rule_store.lost = True

    refused = await http.put(f"/v1/switches/{RERANKING}/rollout", json={"value": "1", "percent": 5})
    deleted = await http.delete("/v1/workspaces/negoce")
    listed = (await http.post("/v1/switches/refresh")).json()

    assert (refused.status_code, deleted.status_code) == (503, 503)
    assert "lost" in listed["rules_error"]
    assert not mesh.switches.choice("negoce", "q").values.reranking_enabled
    assert "negoce" in [each.slug for each in await mesh.retriever.list_workspaces()]
