"""A chat server that dies in the middle of a run is missed by the receipt only."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.mesh.caller import Caller
from tests.mesh.chat_server import ADDED, running_chat_server
from tests.mesh.conftest import DOCUMENTS, WORKSPACE
from tests.mesh.processes import Mesh, running_mesh

pytestmark = pytest.mark.mesh

QUERIES = [f"surestaries au terminal {place}" for place in ("du Havre", "de Brest", "de Sète")]


def searched_over_http(mesh: Mesh, query: str) -> tuple[int, dict[str, Any]]:
    """Searches and returns the status and the answer."""
    request = urllib.request.Request(
        f"{mesh.http_url}/v1/search",
        json.dumps({"workspace": WORKSPACE, "query": query}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, json.load(answer)


def report_of(stage: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Returns what the receipt says of a stage."""
    (report,) = [each for each in answer["receipt"]["stages"] if each["stage"] == stage]
    return dict(report)


def order_of(answer: dict[str, Any]) -> list[str]:
    """Returns the documents of the hits, best first."""
    return [hit["source"]["external_id"] for hit in answer["hits"]]


def test_killing_the_chat_server_changes_the_receipt_alone(tmp_path: Path) -> None:
    """Statuses and hits stay; before it both wordings are searched, afterwards the question.

    Before it the model sorts, backwards as the tiny one does, afterwards the formula.
    """
    with running_chat_server() as chat:
        settings = {
            "JUSTESSE_REWRITER_CHAT_MODELS": "openai/tiny",
            "JUSTESSE_REWRITER_CHAT_BASE_URL": chat.base_url,
            "JUSTESSE_RERANKER_IMPLEMENTATIONS": "chat,formula",
            "JUSTESSE_RERANKER_CHAT_MODELS": "openai/tiny",
            "JUSTESSE_RERANKER_CHAT_BASE_URL": chat.base_url,
        }
        with running_mesh(tmp_path, **settings) as mesh:
            with Caller(mesh.gateway_address) as caller:
                caller.create_workspace(WORKSPACE)
                for name, text in DOCUMENTS.items():
                    caller.ingest(WORKSPACE, name, text.encode())
            alive = [searched_over_http(mesh, query) for query in QUERIES]
            chat.kill()
            dead = [searched_over_http(mesh, f"{query} ?") for query in QUERIES * 3]

    for (status, answer), query in zip(alive, QUERIES, strict=True):
        assert status == 200
        assert answer["searched_queries"] == [query, f"{query} {ADDED}"]
        report, reranking = report_of("rewrite", answer), report_of("rerank", answer)
        assert (reranking["outcome"], reranking["provider"]) == ("RAN", "openai")
        assert (reranking["model"], reranking["input_token_count"]) == ("tiny", 300)
        assert order_of(answer)[-1] == "surestaries.md"
        assert (report["outcome"], report["provider"]) == ("RAN", "openai")
        assert (report["input_token_count"], report["output_token_count"]) == (300, 12)
        assert "vectors 1, BM25 1" in report["detail"]
    for (status, answer), query in zip(dead, QUERIES * 3, strict=True):
        assert status == 200
        assert answer["searched_queries"] == [f"{query} ?"]
        for stage in ("rewrite", "rerank"):
            report = report_of(stage, answer)
            assert report["outcome"] == "DEGRADED"
            assert report["reason"] in {"VENDOR_UNAVAILABLE", "CIRCUIT_OPEN"}
        assert report["provider"] == "embedded"
        assert order_of(answer)[0] == "surestaries.md"
    assert {frozenset(order_of(answer)) for _, answer in alive + dead} == {frozenset(DOCUMENTS)}
