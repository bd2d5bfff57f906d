"""Workspaces as archives through both doors, over fakes."""

from __future__ import annotations

import grpc.aio
import httpx
import pytest

from chassis.errors import NotFound, Unavailable
from chassis.metrics import Metrics
from gateway.archives.facts import WorkspaceFacts
from gateway.glossary.entry import GlossaryEntry
from gateway.http.app import http_door
from gateway.http.server import running_http
from justesse.gateway.v1 import transfers_pb2, transfers_pb2_grpc
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.transfers import RECORDS, archive_of

KEY = "rag_reranking_enabled"
GLOSSARY = (GlossaryEntry("BL", ("bon de livraison",)),)
FACTS = WorkspaceFacts(GLOSSARY, {KEY: "false"})


async def prepared(mesh: MeshOfFakes) -> None:
    """Gives the workspace a glossary and an override."""
    application = mesh.application()
    await application.glossaries.put("negoce", GLOSSARY)
    await application.switch_editing.set_override("negoce", KEY, "false")


async def test_an_archive_goes_out_and_in_over_http(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Records, glossary and overrides; exported again it is the same, byte by byte."""
    await prepared(mesh)
    exported = await http.get("/v1/workspaces/negoce/export")
    imported = await http.post("/v1/workspaces/copie/import", content=exported.content)
    again = await http.get("/v1/workspaces/copie/export")

    assert exported.content == b"".join(archive_of(RECORDS, FACTS))
    assert "negoce.justesse" in exported.headers["content-disposition"]
    assert imported.status_code == 201
    assert imported.json() == {
        "document_count": 3,
        "passage_count": 6,
        "vector_count": 9,
        "glossary_entry_count": 1,
        "switch_override_count": 1,
    }
    assert mesh.retriever.imported == {"copie": RECORDS}
    assert again.content == exported.content


async def test_an_archive_goes_out_and_in_over_grpc(
    mesh: MeshOfFakes, channel: grpc.aio.Channel
) -> None:
    """The same over the other door."""
    await prepared(mesh)
    stub = transfers_pb2_grpc.TransferServiceStub(channel)
    request = transfers_pb2.ExportWorkspaceRequest(workspace="negoce")
    parts = [message.content async for message in stub.ExportWorkspace(request)]
    answer = await stub.ImportWorkspace(iter(messages("copie", parts)))

    assert b"".join(parts) == b"".join(archive_of(RECORDS, FACTS))
    assert (answer.document_count, answer.glossary_entry_count) == (3, 1)
    assert answer.switch_override_count == 1
    assert mesh.retriever.imported == {"copie": RECORDS}


async def test_an_archive_that_is_damaged_makes_no_workspace(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Wherever it is cut off or altered: the last record is not believed before the end was."""
    whole = b"".join(archive_of())
    for wrong in (b"", whole[:30], whole[:-1], whole[:-10] + b"x" + whole[-9:], b"x" + whole):
        answer = await http.post("/v1/workspaces/copie/import", content=wrong)

        assert answer.status_code == 400
        assert answer.json()["error"]["reason"] in ("ARCHIVE_DAMAGED", "NO_ARCHIVE")
        assert "copie" not in mesh.retriever.workspaces


async def test_an_archive_with_facts_that_cannot_be_makes_no_workspace(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """A glossary entry, or a switch, that may not be there takes all of it back."""
    for facts in (
        WorkspaceFacts((GlossaryEntry("", ("x",)),)),
        WorkspaceFacts(GLOSSARY, {"rag_unknown": "false"}),
        WorkspaceFacts(GLOSSARY, {KEY: "perhaps"}),
    ):
        content = b"".join(archive_of(RECORDS, facts))
        answer = await http.post("/v1/workspaces/copie/import", content=content)

        assert answer.status_code in (400, 404)
        assert "copie" not in mesh.retriever.workspaces
        assert not (await mesh.glossaries.read("copie")).entries


async def test_a_lost_database_makes_no_workspace(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """It is noticed before anything is taken in."""
    mesh.glossary_store.lost = True
    answer = await http.post("/v1/workspaces/copie/import", content=b"".join(archive_of()))

    assert answer.status_code == 503
    assert mesh.retriever.imported == {}


@pytest.mark.parametrize("slug", ["negoce", "Copie", "-"])
async def test_a_slug_that_is_taken_or_none_is_refused(
    mesh: MeshOfFakes, http: httpx.AsyncClient, slug: str
) -> None:
    """And the workspace that has it stays."""
    answer = await http.post(f"/v1/workspaces/{slug}/import", content=b"".join(archive_of()))

    assert answer.status_code == (409 if slug == "negoce" else 400)
    assert list(mesh.retriever.workspaces) == ["negoce"]


async def test_a_missing_workspace_is_told_before_the_archive_begins(
    http: httpx.AsyncClient, channel: grpc.aio.Channel
) -> None:
    """As everywhere, through both doors."""
    answer = await http.get("/v1/workspaces/nulle-part/export")
    stub = transfers_pb2_grpc.TransferServiceStub(channel)
    call = stub.ExportWorkspace(transfers_pb2.ExportWorkspaceRequest(workspace="nulle-part"))
    status, error = await refusal(anext(aiter(call)))

    assert answer.status_code == 404
    assert status == "NOT_FOUND"
    assert isinstance(error, NotFound)


async def test_an_export_that_breaks_off_is_told_from_a_whole_one(
    mesh: MeshOfFakes, channel: grpc.aio.Channel
) -> None:
    """Over HTTP the connection ends before the answer does, over gRPC the status says it."""
    mesh.retriever.export_error = Unavailable("the retriever is lost")
    door = http_door(mesh.application(), Metrics())
    async with (
        running_http(door, "127.0.0.1", 0, insecure=True, grace_s=0.0) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get("/v1/workspaces/negoce/export")
    stub = transfers_pb2_grpc.TransferServiceStub(channel)
    call = stub.ExportWorkspace(transfers_pb2.ExportWorkspaceRequest(workspace="negoce"))
    with pytest.raises(grpc.aio.AioRpcError) as broken:
        _ = [message async for message in call]

    assert broken.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_what_is_remembered_of_an_earlier_workspace_is_forgotten(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Another gateway had deleted it: its language and spaces are not those of the import."""
    search = {"workspace": "copie", "query": "retards"}
    mesh.retriever.add_workspace("copie", language="en")
    await http.post("/v1/search", json=search)
    del mesh.retriever.workspaces["copie"]
    await http.post("/v1/workspaces/copie/import", content=b"".join(archive_of()))
    mesh.retriever.described.clear()
    await http.post("/v1/search", json=search)

    assert mesh.retriever.described == ["copie"]


async def test_messages_out_of_order_are_refused(channel: grpc.aio.Channel) -> None:
    """Content before the header, and a header among the content."""
    stub = transfers_pb2_grpc.TransferServiceStub(channel)
    first, *rest = messages("copie", archive_of())
    for wrong in (rest, [first, first], [first, rest[0], first, *rest[1:]], []):
        status, _ = await refusal(stub.ImportWorkspace(iter(wrong)))

        assert status == "INVALID_ARGUMENT"


def messages(slug: str, parts: list[bytes]) -> list[transfers_pb2.ImportWorkspaceRequest]:
    """Returns the messages of an import."""
    header = transfers_pb2.ImportHeader(workspace=slug)
    return [
        transfers_pb2.ImportWorkspaceRequest(header=header),
        *(transfers_pb2.ImportWorkspaceRequest(content=part) for part in parts),
    ]
