"""Fusion settings through both doors of the gateway, and on to the retriever."""

from __future__ import annotations

import grpc.aio
import httpx
import pytest

from chassis.errors import InvalidArgument
from gateway.clients.retriever import RetrieverClient
from gateway.fusion import Fusion
from gateway.searching import PassageSearch, QueryVariant
from gateway.workspaces import WorkspaceSettings, WorkspaceUpdate
from justesse.gateway.v1 import (
    search_pb2,
    search_pb2_grpc,
    workspaces_pb2,
    workspaces_pb2_grpc,
)
from justesse.retriever.v1 import search_pb2 as retriever_search_pb2
from justesse.retriever.v1 import workspaces_pb2 as retriever_workspaces_pb2
from tests.fakes.gateway_services.downstream import downstream
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

FUSION = Fusion(30.0, 0.0, 1.5, {"s": 2.0})
BODY = {
    "rank_constant": 30,
    "lexical_weight": 0,
    "dense_weight": 1.5,
    "space_weights": {"s": 2},
}


async def test_settings_are_changed_over_http(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """The body reaches the retriever, zeros included, and the answer shows what counts now."""
    answer = await http.patch("/v1/workspaces/negoce", json={"fusion": BODY, "reset_fusion": True})
    unknown = await http.patch("/v1/workspaces/none", json={})

    assert answer.status_code == 200
    assert answer.json()["settings"]["fusion"] == BODY
    assert mesh.retriever.updates == [WorkspaceUpdate("negoce", FUSION, reset_fusion=True)]
    assert unknown.status_code == 404


async def test_settings_are_changed_over_grpc(channel: grpc.aio.Channel, mesh: MeshOfFakes) -> None:
    """As over HTTP; a field that is not set stays not set."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    answer = await stub.UpdateWorkspace(
        workspaces_pb2.UpdateWorkspaceRequest(
            slug="negoce", fusion=workspaces_pb2.FusionSettings(lexical_weight=0)
        )
    )

    assert mesh.retriever.updates == [WorkspaceUpdate("negoce", Fusion(lexical_weight=0.0))]
    assert answer.workspace.settings.fusion == workspaces_pb2.FusionSettings(lexical_weight=0)


async def test_how_documents_are_cut_is_changed_in_both_doors(
    http: httpx.AsyncClient, channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """Zero tokens a part is a choice, and what is not named stays as it is."""
    stub = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
    await http.patch("/v1/workspaces/negoce", json={"child_token_count": 0})
    await stub.UpdateWorkspace(
        workspaces_pb2.UpdateWorkspaceRequest(
            slug="negoce", chunking_profile="words", child_token_count=0
        )
    )
    refused = await http.patch("/v1/workspaces/negoce", json={"child_token_count": "120"})

    assert mesh.retriever.updates == [
        WorkspaceUpdate("negoce", child_token_count=0),
        WorkspaceUpdate("negoce", chunking_profile="words", child_token_count=0),
    ]
    assert refused.status_code == 400


async def test_a_search_carries_its_own_fusion(
    http: httpx.AsyncClient, channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """Both doors hand it on; without one nothing is chosen."""
    asked = {"workspace": "negoce", "query": "retards"}
    fusion = workspaces_pb2.FusionSettings(**BODY)  # type: ignore[arg-type]
    await http.post("/v1/search", json={**asked, "fusion": BODY})
    await search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
        search_pb2.SearchPassagesRequest(workspace="negoce", query="retards", fusion=fusion)
    )
    await http.post("/v1/search", json=asked)

    assert [search.fusion for search in mesh.retriever.searches] == [FUSION, FUSION, Fusion()]


@pytest.mark.parametrize(
    ("fusion", "field"),
    [
        ({"rank_constant": 0}, "fusion.rank_constant"),
        ({"rank_constant": 10_001}, "fusion.rank_constant"),
        ({"lexical_weight": -1}, "fusion.lexical_weight"),
        ({"dense_weight": 1_001}, "fusion.dense_weight"),
        ({"space_weights": {"s": -1}}, "fusion.space_weights['s']"),
        ({"space_weights": {str(n): 1 for n in range(33)}}, "fusion.space_weights"),
    ],
)
async def test_values_out_of_range_are_refused_by_name(
    http: httpx.AsyncClient,
    channel: grpc.aio.Channel,
    mesh: MeshOfFakes,
    fusion: dict[str, object],
    field: str,
) -> None:
    """In a search, an update and a new workspace, before any service is asked."""
    answers = (
        await http.post("/v1/search", json={"workspace": "negoce", "query": "x", "fusion": fusion}),
        await http.patch("/v1/workspaces/negoce", json={"fusion": fusion}),
    )
    status, error = await refusal(
        workspaces_pb2_grpc.WorkspaceServiceStub(channel).CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(
                slug="x",
                settings=workspaces_pb2.WorkspaceSettings(
                    fusion=workspaces_pb2.FusionSettings(**fusion)  # type: ignore[arg-type]
                ),
            )
        )
    )

    for answer in answers:
        assert answer.status_code == 400
        assert [one["field"] for one in answer.json()["error"]["field_violations"]] == [field]
    assert status == "INVALID_ARGUMENT"
    assert isinstance(error, InvalidArgument)
    assert error.violations[0].field == f"settings.{field}"
    assert (mesh.retriever.searches, mesh.retriever.updates) == ([], [])


async def test_the_retriever_is_asked_in_its_own_words() -> None:
    """An update, a new workspace and a search as they go over the wire."""
    settings = retriever_workspaces_pb2.FusionSettings(**BODY)  # type: ignore[arg-type]
    workspace = retriever_workspaces_pb2.Workspace(
        slug="a", settings=retriever_workspaces_pb2.WorkspaceSettings(fusion=settings)
    )
    package = "justesse.retriever.v1"
    answers = {
        f"{package}.WorkspaceService.UpdateWorkspace": lambda _: (
            retriever_workspaces_pb2.UpdateWorkspaceResponse(workspace=workspace)
        ),
        f"{package}.WorkspaceService.CreateWorkspace": lambda _: (
            retriever_workspaces_pb2.CreateWorkspaceResponse(workspace=workspace)
        ),
        f"{package}.SearchService.SearchPassages": lambda _: (
            retriever_search_pb2.SearchPassagesResponse()
        ),
    }
    async with downstream(answers) as retriever:
        client = RetrieverClient(retriever.channel)
        updated = await client.update_workspace(
            WorkspaceUpdate("a", FUSION, reset_fusion=True, child_token_count=0)
        )
        await client.create_workspace("a", WorkspaceSettings(fusion=FUSION))
        await client.search_passages(PassageSearch("a", (QueryVariant("x"),), fusion=FUSION))
        await client.search_passages(PassageSearch("a", (QueryVariant("x"),)))

    update, creation, search, plain = retriever.seen
    assert update == retriever_workspaces_pb2.UpdateWorkspaceRequest(
        slug="a", fusion=settings, reset_fusion=True, child_token_count=0
    )
    assert creation.settings.fusion == settings
    assert (search.rank_constant, search.lexical_weight, search.dense_weight) == (30, 0, 1.5)
    assert search.HasField("lexical_weight")
    assert dict(search.space_weights) == {"s": 2}
    assert not plain.HasField("lexical_weight")
    assert updated.settings.fusion == FUSION
