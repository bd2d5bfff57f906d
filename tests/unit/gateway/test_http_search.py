"""Searching over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from chassis.errors import Unavailable
from gateway.filters import AllOf, Equals, FieldExists, InRange, Negation, OneOf, Threshold
from gateway.rewriting import ConversationRole, ConversationTurn
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.spaces import SPACE

ASKED = {"workspace": "negoce", "query": "retards à Marseille"}


async def search(http: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    """Posts a search; fields are added to a valid body."""
    return await http.post("/v1/search", json=ASKED | fields)


async def test_hits_come_with_sources_scores_and_receipt(http: httpx.AsyncClient) -> None:
    """The body is named as in the contract, and holds no field that is not set."""
    answer = await search(http, limit=1)

    body = answer.json()
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert body["searched_queries"] == ["retards à Marseille"]
    (hit,) = body["hits"]
    assert hit["rank"] == 1
    assert hit["passage_id"] == "p3"
    assert hit["text"] == "Texte de p3."
    assert hit["heading_path"] == ["Partie"]
    assert hit["source"]["external_id"] == "p3.md"
    assert hit["source"]["metadata"] == {"week": 12.0}
    assert hit["scores"]["rerank_rank"] == 1
    assert hit["scores"]["space_scores"] == [{"space_id": SPACE.space_id, "cosine": 0.75}]
    assert [place["list_name"] for place in hit["scores"]["list_ranks"]] == [
        "bm25",
        SPACE.space_id,
    ]
    receipt = body["receipt"]
    assert [(stage["stage"], stage["outcome"]) for stage in receipt["stages"]] == [
        ("rewrite", "SKIPPED"),
        ("embed", "RAN"),
        ("search", "RAN"),
        ("rerank", "RAN"),
    ]
    assert receipt["costs"] == [{"amount": 0.125, "currency": "EUR"}]
    assert receipt["degraded"] is False
    assert receipt["request_id"] == answer.headers["x-request-id"]


async def test_everything_asked_reaches_the_retriever(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Filter, thresholds, context and bounds are those of the body."""
    answer = await search(
        http,
        limit=3,
        history=[{"role": "user", "text": "Avant ?"}, {"role": "ASSISTANT", "text": "Oui."}],
        filter={
            "all_of": {
                "filters": [
                    {"equals": {"field": "metadata.urgent", "value": True}},
                    {"one_of": {"field": "category", "values": ["orders", 3, 2.5]}},
                    {
                        "range": {
                            "field": "valid_at",
                            "at_least": {"time_value": "2026-05-01T02:00:00+02:00"},
                        }
                    },
                    {"negation": {"field_exists": "metadata.draft"}},
                ]
            }
        },
        thresholds=[
            {
                "space_id": SPACE.space_id,
                "max_distance": 0.75,
                "condition": {"field_exists": "metadata.week"},
                "context_field": "week",
            },
            {"min_term_share": 0.3, "context_field": "week", "context_differs": True},
        ],
        context={"week": 12},
        passages_per_document=2,
    )

    asked = mesh.retriever.searches[0]
    assert answer.status_code == 200
    assert asked.filter == AllOf(
        (
            Equals("metadata.urgent", True),
            OneOf("category", ("orders", 3.0, 2.5)),
            InRange("valid_at", datetime(2026, 5, 1, tzinfo=UTC)),
            Negation(FieldExists("metadata.draft")),
        )
    )
    assert asked.thresholds == (
        Threshold(SPACE.space_id, None, 0.75, FieldExists("metadata.week"), "week"),
        Threshold(context_field="week", min_term_share=0.3, context_differs=True),
    )
    assert asked.context == {"week": 12.0}
    assert mesh.rewriter.calls[0][2] == (
        ConversationTurn(ConversationRole.USER, "Avant ?"),
        ConversationTurn(ConversationRole.ASSISTANT, "Oui."),
    )


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n"}, "query"),
        ({"query": "x" * 100_000}, "query"),
        ({"query": "é" * 4097}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": 10**30}, "limit"),
        ({"limit": "8"}, "limit"),
        ({"limit": True}, "limit"),
        ({"workspace": ""}, "workspace"),
        ({"workspace": "../etc"}, "workspace"),
        ({"workspace": "Negoce"}, "workspace"),
        ({"history": [{"role": "SYSTEM", "text": "x"}]}, "history[0].role"),
        ({"history": [{"role": "USER", "text": "x"}] * 21}, "history"),
        ({"history": [{"role": "USER", "text": "x" * 33_000}]}, "history"),
        ({"passages_per_document": -1}, "passages_per_document"),
        ({"filter": {}}, "filter"),
        ({"filter": {"field_exists": "category", "equals": None, "other": 1}}, "filter.other"),
        ({"filter": {"field_exists": " "}}, "filter"),
        ({"filter": {"one_of": {"field": "category", "values": []}}}, "filter.one_of.values"),
        ({"filter": {"range": {"field": "version"}}}, "filter.range"),
        ({"filter": {"all_of": {"filters": []}}}, "filter.all_of.filters"),
        ({"thresholds": [{"space_id": "s"}]}, "thresholds[0]"),
        (
            {"thresholds": [{"space_id": "s", "min_similarity": 0.5, "max_distance": 0.5}]},
            "thresholds[0]",
        ),
        ({"context": {"week": [1]}}, "context.week"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, mesh: MeshOfFakes, fields: dict[str, Any], field: str
) -> None:
    """Every wrong body is a 400 that names the field, and calls nobody."""
    answer = await search(http, **fields)

    error = answer.json()["error"]
    assert answer.status_code == 400
    assert (error["status"], error["reason"]) == ("INVALID_ARGUMENT", "INVALID_ARGUMENT")
    assert any(each["field"].startswith(field) for each in error["field_violations"])
    assert len(answer.content) < 4000
    assert not mesh.rewriter.calls
    assert not mesh.retriever.described


async def test_all_wrong_fields_are_named_at_once(http: httpx.AsyncClient) -> None:
    """A caller need not correct one mistake at a time."""
    answer = await search(http, query="", limit=0, workspace="")

    violations = answer.json()["error"]["field_violations"]
    assert [each["field"] for each in violations] == ["workspace", "query", "limit"]


@pytest.mark.parametrize("depth", [9, 90, 400, 20_000])
async def test_filters_nested_too_deep_are_refused(http: httpx.AsyncClient, depth: int) -> None:
    """At any depth the answer is a 400, and no stack is used up."""
    nested = '{"negation":' * depth + '{"field_exists":"category"}' + "}" * depth
    answer = await http.post(
        "/v1/search",
        content='{"workspace":"negoce","query":"x","filter":' + nested + "}",
        headers={"content-type": "application/json"},
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        '{"workspace":"negoce","query":"\\ud800"}',
        '{"workspace":"negoce","query":"x","context":{"a":NaN}}',
        '{"workspace":"negoce","query":"x","context":{"a":Infinity}}',
        '{"workspace":"negoce","query":"x","context":{"a":1' + "0" * 400 + "}}",
        '{"workspace":"negoce","query":"x","limit":1' + "0" * 5000 + "}",
        '{"workspace":"negoce","query":"x","context":{"\\udfff":1}}',
        '{"\\udfff":1}',
        b"\xff\xfe\x00",
    ],
)
async def test_what_is_no_json_of_ours_is_refused(
    http: httpx.AsyncClient, body: str | bytes
) -> None:
    """Broken JSON, other shapes, lone surrogates and numbers that are none are clean errors."""
    answer = await http.post(
        "/v1/search", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


async def test_a_body_of_another_type_is_told_so(http: httpx.AsyncClient) -> None:
    """A form where JSON is wanted gets a hint that helps."""
    answer = await http.post("/v1/search", data={"query": "x"})

    assert answer.status_code == 400
    assert "application/json" in answer.json()["error"]["message"]


async def test_an_unknown_workspace_is_404(http: httpx.AsyncClient) -> None:
    """Status, reason and words are those of the retriever."""
    answer = await search(http, workspace="nulle-part")

    error = answer.json()["error"]
    assert answer.status_code == 404
    assert (error["status"], error["reason"]) == ("NOT_FOUND", "WORKSPACE_NOT_FOUND")
    assert "nulle-part" in error["message"]


async def test_a_lost_retriever_is_503(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """The caller reads what is lost and when to come back."""
    mesh.retriever.behaviour.error = Unavailable(
        "the retriever cannot be reached", retry_after_s=1.2
    )

    answer = await search(http)

    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "the retriever cannot be reached"
    assert answer.headers["retry-after"] == "2"


async def test_a_bug_is_a_500_without_a_traceback(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """The caller learns the request id and nothing else."""
    mesh.reranker.behaviour.error = ZeroDivisionError("secret detail")

    answer = await search(http)

    error = answer.json()["error"]
    assert answer.status_code == 500
    assert (error["status"], error["message"]) == ("INTERNAL", "internal error")
    assert error["request_id"] == answer.headers["x-request-id"]
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
