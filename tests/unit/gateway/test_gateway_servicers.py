"""Workspaces, documents, switches and the mesh on a real gRPC server over fakes."""

from __future__ import annotations

from dataclasses import replace

import grpc
import grpc.aio
import pytest

from chassis.errors import Unavailable
from justesse.gateway.v1 import (
    documents_pb2,
    documents_pb2_grpc,
    mesh_pb2,
    mesh_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
    switches_pb2,
    switches_pb2_grpc,
    workspaces_pb2,
    workspaces_pb2_grpc,
)
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.spaces import SPACE
from tests.fakes.gateway_services.switch_database import RERANKING


async def test_the_life_of_a_workspace(channel: grpc.aio.Channel) -> None:
    """Created, described, listed, deleted, gone."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    settings = workspaces_pb2.WorkspaceSettings(
        language="en", dense_index_kind=workspaces_pb2.DENSE_INDEX_KIND_HNSW
    )

    created = await stub.CreateWorkspace(
        workspaces_pb2.CreateWorkspaceRequest(slug="export", settings=settings)
    )
    described = await stub.DescribeWorkspace(workspaces_pb2.DescribeWorkspaceRequest(slug="export"))
    listed = await stub.ListWorkspaces(workspaces_pb2.ListWorkspacesRequest())
    deleted = await stub.DeleteWorkspace(workspaces_pb2.DeleteWorkspaceRequest(slug="export"))
    status, _ = await refusal(
        stub.DescribeWorkspace(workspaces_pb2.DescribeWorkspaceRequest(slug="export"))
    )

    assert created.workspace == described.workspace
    assert created.workspace.settings.language == "en"
    assert created.workspace.settings.dense_index_kind == workspaces_pb2.DENSE_INDEX_KIND_HNSW
    assert [workspace.slug for workspace in listed.workspaces] == ["export", "negoce"]
    assert listed.workspaces[1].spaces[0].space_id == SPACE.space_id
    assert deleted.passage_count == 3
    assert status == "NOT_FOUND"


async def test_an_unknown_kind_of_index_is_refused(channel: grpc.aio.Channel) -> None:
    """A number this build does not know is no choice."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    settings = workspaces_pb2.WorkspaceSettings(dense_index_kind=99)  # type: ignore[arg-type]

    status, error = await refusal(
        stub.CreateWorkspace(workspaces_pb2.CreateWorkspaceRequest(slug="x", settings=settings))
    )

    assert status == "INVALID_ARGUMENT"
    assert "dense_index_kind" in error.message


async def test_an_unknown_preset_is_refused(channel: grpc.aio.Channel) -> None:
    """It is told the known ones."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    settings = workspaces_pb2.WorkspaceSettings(preset="foo")

    refused, error = await refusal(
        stub.CreateWorkspace(workspaces_pb2.CreateWorkspaceRequest(slug="x", settings=settings))
    )

    assert refused == "INVALID_ARGUMENT"
    assert "'foo'" in error.message
    assert "'tutorial'" in error.message


@pytest.mark.parametrize(
    ("preset", "profile", "expected"),
    [("words", "", "words"), ("words", "structure", "structure"), ("commerce", "", "")],
)
async def test_a_preset_chooses_how_documents_are_cut(
    channel: grpc.aio.Channel, mesh: MeshOfFakes, preset: str, profile: str, expected: str
) -> None:
    """Unless the caller does; an empty profile is left to the retriever."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    settings = workspaces_pb2.WorkspaceSettings(preset=preset, chunking_profile=profile)

    await stub.CreateWorkspace(workspaces_pb2.CreateWorkspaceRequest(slug="x", settings=settings))

    made = mesh.retriever.workspaces["x"].settings
    assert (made.preset, made.chunking_profile) == (preset, expected)


async def test_documents_are_read_listed_and_deleted(
    channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """A document comes with passages, a list without, a deletion says what it did."""
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    mesh.retriever.documents["negoce", "a.md"] = replace(
        mesh.retriever.documents["negoce", "a.md"], awaiting_passage_count=1
    )
    where = {"workspace": "negoce", "external_id": "b/c d.md"}

    read = await stub.GetDocument(documents_pb2.GetDocumentRequest(**where))
    page = await stub.ListDocuments(
        documents_pb2.ListDocumentsRequest(workspace="negoce", page_size=2)
    )
    first = await stub.DeleteDocument(documents_pb2.DeleteDocumentRequest(**where))
    second = await stub.DeleteDocument(documents_pb2.DeleteDocumentRequest(**where))
    status, _ = await refusal(stub.GetDocument(documents_pb2.GetDocumentRequest(**where)))

    assert [passage.text for passage in read.passages] == ["Premier.", "Second."]
    assert list(read.passages[0].space_ids) == [SPACE.space_id]
    assert [list(one.sliced_space_ids) for one in read.passages] == [[], [SPACE.space_id]]
    assert [passage.cuts_token for passage in read.passages] == [False, True]
    assert (read.document.passage_count, read.document.metadata["week"].number_value) == (2, 12.0)
    assert [document.external_id for document in page.documents] == ["a.md", "b/c d.md"]
    assert [document.awaiting_passage_count for document in page.documents] == [1, 0]
    assert (page.total_count, page.next_page_token) == (3, "2")
    assert (first.deleted, first.passage_count, second.deleted) == (True, 2, False)
    assert status == "NOT_FOUND"


async def test_switches_are_set_and_refreshed(channel: grpc.aio.Channel, mesh: MeshOfFakes) -> None:
    """A value set is in force; one set by SQL is after a refresh; a search obeys."""
    stub = switches_pb2_grpc.SwitchServiceStub(channel)

    changed = await stub.SetSwitch(switches_pb2.SetSwitchRequest(key=RERANKING, value="OFF"))
    searched = await search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
        search_pb2.SearchPassagesRequest(workspace="negoce", query="retards")
    )
    mesh.database.set(RERANKING, "true")
    listed = await stub.DescribeSwitches(switches_pb2.DescribeSwitchesRequest())
    refreshed = await stub.RefreshSwitches(switches_pb2.RefreshSwitchesRequest())

    assert (changed.switch.value, changed.switch.default_value) == ("false", "true")
    assert changed.switch.origin == switches_pb2.SWITCH_ORIGIN_DATABASE
    assert searched.receipt.stages[3].outcome == search_pb2.STAGE_OUTCOME_SWITCHED_OFF
    assert [row.value for row in listed.switches if row.key == RERANKING] == ["false"]
    assert [row.value for row in refreshed.switches if row.key == RERANKING] == ["true"]
    assert refreshed.refresh_time.seconds > 0


async def test_the_mesh_is_described(channel: grpc.aio.Channel, mesh: MeshOfFakes) -> None:
    """Silent services are named with the reason; the embedder's providers are listed."""
    mesh.health["reranker"].behaviour.error = Unavailable("the reranker cannot be reached")

    answer = await mesh_pb2_grpc.MeshServiceStub(channel).DescribeMesh(
        mesh_pb2.DescribeMeshRequest()
    )

    states = {service.name: service for service in answer.services}
    assert list(states) == ["rewriter", "embedder", "retriever", "reranker", "ingestion"]
    assert states["retriever"].health == mesh_pb2.SERVICE_HEALTH_SERVING
    assert states["reranker"].health == mesh_pb2.SERVICE_HEALTH_UNREACHABLE
    assert states["reranker"].detail == "the reranker cannot be reached"
    assert not states["reranker"].HasField("latency_ms")
    assert (answer.providers[0].name, answer.providers[0].state) == ("fake", "available")
    assert answer.version
