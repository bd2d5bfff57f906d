"""Losing an optional service lowers quality and is named; losing the retriever is said plainly."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest

from justesse.gateway.v1 import ingestion_pb2, search_pb2
from tests.mesh.caller import Caller, outcomes, said
from tests.mesh.conftest import DOCUMENTS, WORKSPACE
from tests.mesh.processes import Mesh

pytestmark = pytest.mark.mesh


def degraded(answer: search_pb2.SearchPassagesResponse) -> list[str]:
    """Names the stages that were lost."""
    return [name for name, outcome in outcomes(answer).items() if outcome == "DEGRADED"]


@contextmanager
def stopped(mesh: Mesh, name: str) -> Iterator[None]:
    """Stops one service for the time of a `with` block, and waits until it is used again."""
    assert mesh.processes[name].stop() == 0
    try:
        yield
    finally:
        mesh.restart(name)
        with Caller(mesh.gateway_address) as caller:
            caller.wait_until_whole(WORKSPACE)


@pytest.mark.parametrize(
    ("service", "stage"), [("rewriter", "rewrite"), ("embedder", "embed"), ("reranker", "rerank")]
)
def test_an_optional_service_is_missed_by_the_receipt_only(
    mesh: Mesh, caller: Caller, service: str, stage: str
) -> None:
    """With one optional service stopped, every search answers and its receipt names the stage.

    A machine under load may make another stage late once; it does not go on.
    """
    with stopped(mesh, service):
        for attempt in range(10):
            # A wording of its own each time: a cached query vector would hide a lost embedder.
            answer = caller.search(WORKSPACE, f"surestaries au terminal sans {service} {attempt}")
            assert answer.hits[0].source.external_id == "surestaries.md"
            assert outcomes(answer)[stage] == "DEGRADED"
            assert answer.receipt.degraded
            if degraded(answer) == [stage]:
                break

    assert degraded(answer) == [stage], answer.receipt


def test_a_returned_service_is_used_again(mesh: Mesh, caller: Caller) -> None:
    """After the reranker is back, the next searches rerank again."""
    with stopped(mesh, "reranker"):
        assert outcomes(caller.search(WORKSPACE, "retour"))["rerank"] == "DEGRADED"

    assert outcomes(caller.search(WORKSPACE, "retour"))["rerank"] == "RAN"


def test_without_the_retriever_the_answer_is_unavailable(mesh: Mesh, caller: Caller) -> None:
    """gRPC says UNAVAILABLE and HTTP 503, both in plain words, and both recover."""
    with stopped(mesh, "retriever"):
        with pytest.raises(grpc.RpcError) as refused:
            caller.search(WORKSPACE, "retour")
        request = urllib.request.Request(
            f"{mesh.http_url}/v1/search",
            data=json.dumps({"workspace": WORKSPACE, "query": "retour"}).encode(),
            headers={"content-type": "application/json"},
        )
        with pytest.raises(urllib.error.HTTPError) as http_refused:
            urllib.request.urlopen(request, timeout=10)
        with http_refused.value:
            body = json.loads(http_refused.value.read())

    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "retriever" in said(refused.value)
    assert http_refused.value.code == 503
    assert body["error"]["status"] == "UNAVAILABLE"
    assert "retriever" in body["error"]["message"]
    assert "Traceback" not in json.dumps(body)


def test_without_the_embedder_uploads_are_found_by_their_words(mesh: Mesh, caller: Caller) -> None:
    """A document taken in without an embedder waits for vectors, is found by BM25, and gets its
    vectors when it is uploaded again."""
    text = "# Palettes\n\nLes palettes consignées EUR-EPAL sont rendues sous trente jours.\n"
    with stopped(mesh, "embedder"):
        stored = _taken_in(caller, "palettes.md", text.encode())
        answer = caller.search(WORKSPACE, "palettes consignées")
    for _ in range(100):
        again = caller.ingest(WORKSPACE, "palettes.md", text.encode())
        if not again.awaiting_passage_count:
            break
        # The gateway has found the embedder again; the ingestion role connects by itself.
        time.sleep(0.1)
    caller.delete_document(WORKSPACE, "palettes.md")

    assert stored.awaiting_passage_count == stored.passage_count == 1
    assert stored.warnings
    assert answer.hits[0].source.external_id == "palettes.md"
    assert again.awaiting_passage_count == 0


def _taken_in(caller: Caller, name: str, content: bytes) -> ingestion_pb2.IngestDocumentResponse:
    """Takes a file in; the role may still be looking for a retriever that was stopped before."""
    for left in reversed(range(100)):
        try:
            return caller.ingest(WORKSPACE, name, content)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE or not left:
                raise
            time.sleep(0.1)
    raise AssertionError("the last try returns or raises")


def test_without_the_ingestion_role_searches_go_on(mesh: Mesh, caller: Caller) -> None:
    """An upload is refused as UNAVAILABLE; searching and listing go on."""
    with stopped(mesh, "ingestion"):
        with pytest.raises(grpc.RpcError) as refused:
            caller.ingest(WORKSPACE, "neuf.md", b"# Neuf\n\nTexte.\n")
        answer = caller.search(WORKSPACE, "retour de marchandise")

    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert answer.hits[0].source.external_id in DOCUMENTS
