"""Every RPC of the retriever names the claim it needs."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import MethodDescriptor

from justesse.retriever.v1 import (
    documents_pb2,
    search_pb2,
    spaces_pb2,
    transfers_pb2,
    workspaces_pb2,
)
from retriever_svc.needed_claims import NEEDED_CLAIMS

FILES = (documents_pb2, search_pb2, spaces_pb2, transfers_pb2, workspaces_pb2)
METHODS: list[MethodDescriptor] = [
    method
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def full_name(method: MethodDescriptor) -> str:
    """Returns `package.Service/Method`."""
    return f"{method.containing_service.full_name}/{method.name}"


def test_every_rpc_needs_a_claim() -> None:
    """One that is added without a thought of who may call it fails here."""
    assert set(map(full_name, METHODS)) == NEEDED_CLAIMS.keys()


@pytest.mark.parametrize("method", METHODS, ids=full_name)
def test_the_workspace_is_read_where_the_message_has_it(method: MethodDescriptor) -> None:
    """A claim for all workspaces is asked for only where a request names none."""
    place = NEEDED_CLAIMS[full_name(method)].place
    fields = {field.name: field for field in method.input_type.fields}
    found = fields.keys() & {"workspace", "slug"}
    for parent in ("search", "header"):
        inner = fields[parent].message_type if parent in fields else None
        if inner is not None and "workspace" in inner.fields_by_name:
            found.add(f"{parent}.workspace")

    assert found == ({place} if place else set())
