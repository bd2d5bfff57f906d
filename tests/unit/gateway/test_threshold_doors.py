"""Thresholds at the doors of the gateway: what is refused, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.passages import fused_hit

ASKED = {"workspace": "negoce", "query": "retards"}


@pytest.mark.parametrize(
    ("threshold", "field", "words"),
    [
        ({}, "thresholds[0]", "names no score"),
        ({"space_id": "s"}, "thresholds[0]", "either min_similarity or max_distance"),
        ({"min_similarity": 0.5}, "thresholds[0].space_id", "name the space"),
        ({"space_id": "s", "min_similarity": 1.1}, "thresholds[0].min_similarity", "-1 to 1"),
        ({"space_id": "s", "max_distance": 2.1}, "thresholds[0].max_distance", "0 to 2"),
        ({"min_term_share": -0.1}, "thresholds[0].min_term_share", "0 to 1"),
        (
            {"min_term_share": 0.5, "context_differs": True},
            "thresholds[0].context_field",
            "context_field to compare",
        ),
    ],
)
async def test_rules_that_name_no_score_or_no_bound_are_refused(
    http: httpx.AsyncClient,
    mesh: MeshOfFakes,
    threshold: dict[str, Any],
    field: str,
    words: str,
) -> None:
    """By name and in words, before any service is asked."""
    answer = await http.post("/v1/search", json={**ASKED, "thresholds": [threshold]})
    (violation,) = answer.json()["error"]["field_violations"]

    assert answer.status_code == 400
    assert violation["field"] == field
    assert words in violation["description"]
    assert mesh.retriever.searches == []


async def test_the_share_that_judged_a_hit_is_shown(
    http: httpx.AsyncClient, mesh: MeshOfFakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zero is shown, an unknown one is not."""
    told = {"p1": 0.0, "p2": 0.5, "p3": None}
    monkeypatch.setattr(
        "tests.fakes.gateway_services.retriever.fused_hit",
        lambda passage_id, rank, lists: replace(
            fused_hit(passage_id, rank, lists=lists), term_share=told[passage_id]
        ),
    )
    answer = await http.post("/v1/search", json=ASKED)

    assert {
        hit["passage_id"]: hit["scores"].get("term_share") for hit in answer.json()["hits"]
    } == told
