"""Documents of one source are deleted together, with a receipt."""

from __future__ import annotations

from dataclasses import replace

import grpc.aio
import httpx
import pytest

from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument, NotFound, ServiceError, Unavailable
from justesse.gateway.v1 import documents_pb2, documents_pb2_grpc
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.passages import stored_document

SOURCE = "https://intranet.example/minutes"


def add(mesh: MeshOfFakes, external_id: str, source_uri: str, workspace: str = "negoce") -> None:
    """Adds a document with two passages."""
    stored = stored_document(external_id, "Premier.", "Second.")
    document = replace(stored.document, source_uri=source_uri)
    mesh.retriever.documents[workspace, external_id] = replace(stored, document=document)


def left(mesh: MeshOfFakes) -> set[str]:
    """Ids of the documents of all workspaces that were added here."""
    return {name for _, name in mesh.retriever.documents if name.startswith("s-")}


async def delete_source(
    channel: grpc.aio.Channel, workspace: str = "negoce", source_uri: str = SOURCE
) -> documents_pb2.DeleteSourceResponse:
    """Calls the RPC; raises the ServiceError of the answer."""
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    request = documents_pb2.DeleteSourceRequest(workspace=workspace, source_uri=source_uri)
    try:
        response: documents_pb2.DeleteSourceResponse = await stub.DeleteSource(request)
    except grpc.aio.AioRpcError as error:
        raise service_error_from(error) from error
    return response


async def test_exactly_the_documents_of_the_source_go(
    mesh: MeshOfFakes, channel: grpc.aio.Channel
) -> None:
    """However many pages they fill; a longer or a shorter address is another source."""
    for number in range(600):
        add(mesh, f"s-{number:03}", SOURCE if number % 2 else f"{SOURCE}/{number}")
    mesh.retriever.add_workspace("other")
    add(mesh, "s-other", SOURCE, "other")

    response = await delete_source(channel)

    assert [one.external_id for one in response.documents] == [
        f"s-{number:03}" for number in range(1, 600, 2)
    ]
    assert {one.passage_count for one in response.documents} == {2}
    assert response.passage_count == 600
    assert left(mesh) == {f"s-{number:03}" for number in range(0, 600, 2)} | {"s-other"}


async def test_a_source_without_documents_is_no_error(channel: grpc.aio.Channel) -> None:
    """The receipt is empty."""
    response = await delete_source(channel)

    assert (len(response.documents), response.passage_count) == (0, 0)


@pytest.mark.parametrize(
    ("workspace", "source_uri", "kind"),
    [
        ("negoce", " ", InvalidArgument),
        ("Not a slug", SOURCE, InvalidArgument),
        ("nowhere", SOURCE, NotFound),
    ],
)
async def test_a_wrong_call_deletes_nothing(
    mesh: MeshOfFakes,
    channel: grpc.aio.Channel,
    workspace: str,
    source_uri: str,
    kind: type[ServiceError],
) -> None:
    """An empty source would be that of every document without one."""
    add(mesh, "s-1", "")

    with pytest.raises(kind):
        await delete_source(channel, workspace, source_uri)

    assert left(mesh) == {"s-1"}


async def test_the_same_over_http(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """With the receipt in JSON; kept files that are still there are told for their document."""
    add(mesh, "s-1", SOURCE)
    mesh.ingestion.behaviour.error = Unavailable("the ingestion role cannot be reached")

    answer = await http.delete(
        "/v1/documents", params={"workspace": "negoce", "source_uri": SOURCE}
    )
    unnamed = await http.delete("/v1/documents", params={"workspace": "negoce"})

    assert answer.status_code == 200
    assert answer.json() == {
        "documents": [
            {
                "external_id": "s-1",
                "passage_count": 2,
                "original_failure": "the ingestion role cannot be reached",
            }
        ],
        "passage_count": 2,
        "original_count": 0,
        "purge_within_s": answer.json()["purge_within_s"],
    }
    assert unnamed.status_code == 400
    assert left(mesh) == set()
