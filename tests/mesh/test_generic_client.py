"""A client that knows nothing of the contracts finds the services and calls them."""

import json
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.mesh.conftest import WORKSPACE
from tests.mesh.processes import Mesh

pytestmark = pytest.mark.mesh

BUF = Path(sys.executable).with_name("buf")
SERVICES = {
    "embedder": ["justesse.embedder.v1.EmbedderService"],
    "rewriter": ["justesse.rewriter.v1.RewriterService"],
    "reranker": ["justesse.reranker.v1.RerankerService"],
    "retriever": [
        "justesse.retriever.v1.DocumentService",
        "justesse.retriever.v1.SearchService",
        "justesse.retriever.v1.SpaceService",
        "justesse.retriever.v1.TransferService",
        "justesse.retriever.v1.WorkspaceService",
    ],
    "ingestion": [
        "justesse.gateway.v1.IngestionService",
        "justesse.gateway.v1.JobService",
        "justesse.gateway.v1.SpaceService",
    ],
    "gateway": [
        "justesse.gateway.v1.AnswerService",
        "justesse.gateway.v1.ContextService",
        "justesse.gateway.v1.DocumentService",
        "justesse.gateway.v1.ExplanationService",
        "justesse.gateway.v1.GlossaryService",
        "justesse.gateway.v1.IngestionService",
        "justesse.gateway.v1.JobService",
        "justesse.gateway.v1.KeyService",
        "justesse.gateway.v1.MeshService",
        "justesse.gateway.v1.SearchService",
        "justesse.gateway.v1.SpaceService",
        "justesse.gateway.v1.SwitchService",
        "justesse.gateway.v1.TransferService",
        "justesse.gateway.v1.WorkspaceService",
    ],
}


def buf_curl(port: int, *arguments: str) -> str:
    """Runs `buf curl` against a port, with nothing but reflection to go by."""
    *options, path = arguments
    result = subprocess.run(
        [
            str(BUF),
            "curl",
            "--protocol=grpc",
            "--http2-prior-knowledge",
            *options,
            f"http://127.0.0.1:{port}{path}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name", SERVICES)
def test_reflection_lists_the_services_of_a_process(mesh: Mesh, name: str) -> None:
    """The business port shows the business services, and nothing but reflection besides."""
    listed = buf_curl(mesh.processes[name].port, "--list-services", "").split()

    assert sorted(set(listed) - {"grpc.reflection.v1alpha.ServerReflection"}) == SERVICES[name]


def test_a_search_by_reflection(mesh: Mesh) -> None:
    """A generic client asks a question and reads the hits."""
    answer = buf_curl(
        mesh.processes["gateway"].port,
        "--data",
        json.dumps({"workspace": WORKSPACE, "query": "retour de marchandise"}),
        "/justesse.gateway.v1.SearchService/SearchPassages",
    )

    assert json.loads(answer)["hits"][0]["source"]["externalId"] == "retours.md"


@pytest.mark.parametrize("name", SERVICES)
def test_health_answers_per_service(mesh: Mesh, name: str) -> None:
    """The management port answers for the process, for both probes and for each service."""
    with grpc.insecure_channel(f"127.0.0.1:{mesh.processes[name].management_port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = {
            service: check(stub, service)
            for service in ["", "liveness", "readiness", *SERVICES[name]]
        }

    assert set(answers.values()) == {health_pb2.HealthCheckResponse.SERVING}


def test_health_of_an_unknown_service_is_not_found(mesh: Mesh) -> None:
    """A name that no process serves is NOT_FOUND, so that a mistyped probe is noticed."""
    port = mesh.processes["gateway"].management_port
    with (
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        check(health_pb2_grpc.HealthStub(channel), "justesse.gateway.v1.SearchServise")

    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def check(stub: health_pb2_grpc.HealthStub, service: str) -> int:
    """Asks for the health of one name."""
    request = health_pb2.HealthCheckRequest(service=service)
    answer = stub.Check(request, timeout=10)  # type: ignore[attr-defined]
    assert isinstance(answer, health_pb2.HealthCheckResponse)
    return answer.status
