"""The gateway serves every RPC of its contract, and its clients know every port method."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
from google.protobuf.descriptor import ServiceDescriptor

from gateway.clients.embedder import EmbedderClient
from gateway.clients.health import HealthClient
from gateway.clients.ingestion import IngestionClient
from gateway.clients.jobs import JobsClient
from gateway.clients.reranker import RerankerClient
from gateway.clients.retriever import RetrieverClient
from gateway.clients.rewriter import RewriterClient
from gateway.ingestion_ports import DocumentJobs, Ingestion
from gateway.mesh import HealthCheck
from gateway.ports import Embedder, Reranker, Retriever, Rewriter
from gateway.servicer.answers import AnswerServicer
from gateway.servicer.context import ContextServicer
from gateway.servicer.documents import DocumentServicer
from gateway.servicer.explanations import ExplanationServicer
from gateway.servicer.glossary import GlossaryServicer
from gateway.servicer.ingestion import IngestionServicer
from gateway.servicer.jobs import JobServicer
from gateway.servicer.keys import KeyServicer
from gateway.servicer.mesh import MeshServicer
from gateway.servicer.search import SearchServicer
from gateway.servicer.served import served_services
from gateway.servicer.spaces import SpaceServicer
from gateway.servicer.switches import SwitchServicer
from gateway.servicer.transfers import TransferServicer
from gateway.servicer.workspaces import WorkspaceServicer
from justesse.gateway.v1 import (
    answers_pb2,
    context_pb2,
    documents_pb2,
    explanations_pb2,
    glossary_pb2,
    ingestion_pb2,
    jobs_pb2,
    keys_pb2,
    mesh_pb2,
    search_pb2,
    spaces_pb2,
    switches_pb2,
    transfers_pb2,
    workspaces_pb2,
)
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

SERVICERS: dict[str, type] = {
    "ContextService": ContextServicer,
    "AnswerService": AnswerServicer,
    "DocumentService": DocumentServicer,
    "ExplanationService": ExplanationServicer,
    "GlossaryService": GlossaryServicer,
    "IngestionService": IngestionServicer,
    "JobService": JobServicer,
    "KeyService": KeyServicer,
    "MeshService": MeshServicer,
    "SearchService": SearchServicer,
    "SpaceService": SpaceServicer,
    "SwitchService": SwitchServicer,
    "TransferService": TransferServicer,
    "WorkspaceService": WorkspaceServicer,
}


def contract_services() -> dict[str, ServiceDescriptor]:
    """Returns every service of the gateway's contract by its short name."""
    files = (
        context_pb2,
        answers_pb2,
        documents_pb2,
        explanations_pb2,
        glossary_pb2,
        ingestion_pb2,
        jobs_pb2,
        keys_pb2,
        mesh_pb2,
        search_pb2,
        spaces_pb2,
        switches_pb2,
        transfers_pb2,
        workspaces_pb2,
    )
    return {
        name: service
        for file in files
        for name, service in file.DESCRIPTOR.services_by_name.items()
    }


def test_every_rpc_has_a_servicer_method() -> None:
    """No RPC is left to the generated refusal."""
    services = contract_services()
    missing = [
        f"{name}.{method.name}"
        for name, service in services.items()
        for method in service.methods
        if method.name not in vars(SERVICERS[name])
        or not _is_asynchronous(vars(SERVICERS[name])[method.name])
    ]

    assert set(services) == set(SERVICERS)
    assert missing == []


def _is_asynchronous(method: object) -> bool:
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def test_every_service_is_served(mesh: MeshOfFakes) -> None:
    """The server is given each service under its full name."""
    served = {service.name for service in served_services(mesh.application())}

    assert served == {service.full_name for service in contract_services().values()}


@pytest.mark.parametrize(
    ("port", "client"),
    [
        (Embedder, EmbedderClient),
        (Rewriter, RewriterClient),
        (Reranker, RerankerClient),
        (Retriever, RetrieverClient),
        (Ingestion, IngestionClient),
        (DocumentJobs, JobsClient),
        (HealthCheck, HealthClient),
    ],
)
def test_clients_implement_their_ports(port: type, client: type) -> None:
    """Names, parameters and defaults of client and port are the same."""
    wanted = methods_of(port)

    assert wanted
    for name, method in wanted.items():
        assert signature(getattr(client, name)) == signature(method), name


def methods_of(port: type) -> dict[str, Callable[..., object]]:
    """Returns the public methods of a port, inherited ones included."""
    return {
        name: method
        for name, method in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }


def signature(method: Callable[..., object]) -> list[tuple[str, object, object]]:
    """Returns names, kinds and defaults of the parameters."""
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(method).parameters.values()
    ]
