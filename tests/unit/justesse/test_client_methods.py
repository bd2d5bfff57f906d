"""The table of methods against the contracts, and the clients against each other."""

import inspect
import json

from justesse.client import AsyncJustesse, Justesse
from justesse.client.channels import service_config
from justesse.client.methods import METHODS
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

FILES = (
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


def test_every_rpc_is_called_by_the_client() -> None:
    """The table holds every RPC of the gateway with the messages of the contract."""
    contract = {
        (service.full_name, method.name): (method.input_type, method.output_type)
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }
    table = {
        (method.service, method.name): (
            method.request_type.DESCRIPTOR,
            method.response_type.DESCRIPTOR,
        )
        for method in METHODS
    }
    assert table == contract


def test_both_clients_offer_the_same() -> None:
    """What one client can do, the other can, with equal arguments, defaults and words."""

    def offer(client: type) -> dict[str, tuple[list[inspect.Parameter], str | None]]:
        return {
            name: (list(inspect.signature(function).parameters.values()), function.__doc__)
            for name, function in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith("_")
        }

    assert offer(Justesse) == offer(AsyncJustesse)


def test_only_reads_are_tried_again() -> None:
    """The service config retries exactly the methods that change nothing."""
    retried = {name["method"] for name in json.loads(service_config())["methodConfig"][0]["name"]}
    assert retried == {
        "DescribeMesh",
        "DescribeWorkspace",
        "BuildContext",
        "ExplainSearch",
        "GetDocument",
        "GetJob",
        "ListDocuments",
        "ListGlossaryEntries",
        "ListJobs",
        "ListKeys",
        "ListSwitchChanges",
        "ListSwitchOverrides",
        "DescribeSwitches",
        "ListWorkspaces",
        "SearchPassages",
    }
