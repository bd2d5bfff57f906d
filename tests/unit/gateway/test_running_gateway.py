"""The whole query role in one process: both doors on real sockets, services behind them or lost."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import grpc.aio
import httpx
import pytest

from chassis.binding import StartError
from chassis.metrics import Metrics
from gateway.access.access import AccessMode
from gateway.service import RunningGateway, running_gateway
from gateway.settings import GatewaySettings
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from justesse.retriever.v1 import search_pb2 as retriever_search_pb2
from justesse.retriever.v1 import workspaces_pb2
from tests.fakes.gateway_services.downstream import Downstream, downstream
from tests.fakes.gateway_services.switch_database import SwitchDatabase

NOBODY = "127.0.0.1:9"
RETRIEVER = "justesse.retriever.v1"


def settings_for(database: SwitchDatabase, retriever: str = NOBODY) -> GatewaySettings:
    """Returns settings on free ports, with nobody behind but perhaps a retriever."""
    return GatewaySettings(
        port=0,
        management_port=0,
        metrics_port=0,
        http_port=0,
        drain_grace_s=0.0,
        database_url=f"sqlite+aiosqlite:///{database.path}",
        rewriter_target=NOBODY,
        embedder_target=NOBODY,
        reranker_target=NOBODY,
        ingestion_target=NOBODY,
        retriever_target=retriever,
        retriever_management_target=retriever,
    )


def describe_workspace(_: object) -> workspaces_pb2.DescribeWorkspaceResponse:
    """Answers with a workspace that has one space."""
    space = workspaces_pb2.Space(space_id="s", dimension=4, passage_count=1)
    return workspaces_pb2.DescribeWorkspaceResponse(
        workspace=workspaces_pb2.Workspace(slug="negoce", spaces=[space], spaces_version=1)
    )


def search_passages(_: object) -> retriever_search_pb2.SearchPassagesResponse:
    """Answers with one hit of a BM25 list."""
    hit = retriever_search_pb2.PassageHit(
        passage_id="p1",
        fused_rank=1,
        list_ranks=[retriever_search_pb2.ListRank(list_index=0, rank=1)],
    )
    hit.passage.text = "Le conteneur est au port."
    hit.document.external_id = "port.md"
    return retriever_search_pb2.SearchPassagesResponse(
        hits=[hit],
        lists=[retriever_search_pb2.RankedList(hit_count=1, exact=True)],
        spaces=[workspaces_pb2.Space(space_id="s", dimension=4, passage_count=1)],
        spaces_version=1,
    )


@pytest.fixture
async def retriever() -> AsyncIterator[Downstream]:
    """A retriever with one workspace and one passage."""
    answers = {
        f"{RETRIEVER}.WorkspaceService.DescribeWorkspace": describe_workspace,
        f"{RETRIEVER}.SearchService.SearchPassages": search_passages,
    }
    async with downstream(answers) as service:
        yield service


@pytest.fixture
async def gateway(database: SwitchDatabase, retriever: Downstream) -> AsyncIterator[RunningGateway]:
    """A gateway in front of that retriever, with every other service lost."""
    settings = settings_for(database, retriever.address)
    async with running_gateway(settings, metrics=Metrics()) as running:
        yield running


async def test_a_search_over_both_doors_survives_every_optional_service(
    gateway: RunningGateway,
) -> None:
    """With the retriever alone both doors give the same hits, and the receipt names the rest."""
    async with grpc.aio.insecure_channel(gateway.server.address) as channel:
        over_grpc = await search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
            search_pb2.SearchPassagesRequest(workspace="negoce", query="conteneur")
        )
    async with httpx.AsyncClient(base_url=f"http://{gateway.http_address}") as client:
        over_http = await client.post(
            "/v1/search", json={"workspace": "negoce", "query": "conteneur"}
        )

    degraded = ["rewrite", "embed", "rerank"]
    assert [hit.text for hit in over_grpc.hits] == ["Le conteneur est au port."]
    assert [
        report.stage
        for report in over_grpc.receipt.stages
        if report.outcome == search_pb2.STAGE_OUTCOME_DEGRADED
    ] == degraded
    body = over_http.json()
    assert [hit["text"] for hit in body["hits"]] == ["Le conteneur est au port."]
    assert [
        (stage["stage"], stage["reason"])
        for stage in body["receipt"]["stages"]
        if stage["outcome"] == "DEGRADED"
    ] == [
        ("rewrite", "REWRITER_UNREACHABLE"),
        ("embed", "EMBEDDER_UNREACHABLE"),
        ("rerank", "RERANKER_UNREACHABLE"),
    ]


async def test_the_request_id_goes_all_the_way(
    gateway: RunningGateway, retriever: Downstream
) -> None:
    """The id a caller gives over HTTP is in the receipt, and the deadline reached the retriever."""
    async with httpx.AsyncClient(base_url=f"http://{gateway.http_address}") as client:
        answer = await client.post(
            "/v1/search",
            json={"workspace": "negoce", "query": "conteneur"},
            headers={"X-Request-Id": "from-caller"},
        )

    assert answer.json()["receipt"]["request_id"] == "from-caller"
    assert len(retriever.seen) == 2


async def test_a_lost_retriever_is_unavailable_over_both_doors(database: SwitchDatabase) -> None:
    """Both doors say plainly what is lost, and readiness follows."""
    async with (
        running_gateway(settings_for(database), metrics=Metrics()) as gateway,
        httpx.AsyncClient(base_url=f"http://{gateway.http_address}") as client,
        grpc.aio.insecure_channel(gateway.server.address) as channel,
    ):
        over_http = await client.post("/v1/search", json={"workspace": "negoce", "query": "x"})
        with pytest.raises(grpc.aio.AioRpcError) as over_grpc:
            await search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
                search_pb2.SearchPassagesRequest(workspace="negoce", query="x")
            )
        ready = await client.get("/readyz")
        alive = await client.get("/livez")

    assert over_http.status_code == 503
    assert over_http.json()["error"]["message"] == "the retriever cannot be reached"
    assert over_grpc.value.code() is grpc.StatusCode.UNAVAILABLE
    assert over_grpc.value.details() == "the retriever cannot be reached"
    assert (ready.status_code, alive.status_code) == (503, 200)


async def test_switches_are_in_the_database_before_the_first_request(
    gateway: RunningGateway, database: SwitchDatabase
) -> None:
    """The table is there to be edited as soon as the gateway runs."""
    assert gateway.http_address
    assert database.rows()["rag_reranking_enabled"] == "true"


async def test_the_gateway_starts_without_its_database(database: SwitchDatabase) -> None:
    """The defaults are in force, and the list of switches says why.

    Whether there are keys nobody knows then: only an operator can say that none are needed.
    """
    database.path.parent.write_text("a file where a folder should be")
    settings = settings_for(database).model_copy(update={"access": AccessMode.OPEN})
    async with (
        running_gateway(settings, metrics=Metrics()) as gateway,
        httpx.AsyncClient(base_url=f"http://{gateway.http_address}") as client,
    ):
        body = (await client.get("/v1/switches")).json()

    assert {switch["origin"] for switch in body["switches"]} == {"DEFAULT"}
    assert body["refresh_error"]


async def test_a_taken_http_port_is_a_start_error(database: SwitchDatabase) -> None:
    """The message names the port and what to do; nothing keeps running."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        settings = settings_for(database).model_copy(update={"http_port": port})

        with pytest.raises(StartError, match=f"{port}.*HTTP"):
            async with running_gateway(settings, metrics=Metrics()):
                pass


async def test_another_host_needs_to_be_trusted(database: SwitchDatabase) -> None:
    """Without encryption neither door opens to other machines unless told to."""
    settings = settings_for(database).model_copy(update={"host": "0.0.0.0"})

    with pytest.raises(StartError, match="INSECURE"):
        async with running_gateway(settings, metrics=Metrics()):
            pass


async def test_a_missing_driver_is_a_start_error(database: SwitchDatabase) -> None:
    """The message names the setting."""
    settings = settings_for(database).model_copy(
        update={"database_url": "oracle+oracledb://user@host/name"}
    )

    with pytest.raises(StartError, match="JUSTESSE_GATEWAY_DATABASE_URL"):
        async with running_gateway(settings, metrics=Metrics()):
            pass


async def test_a_request_in_flight_ends_before_the_door_closes(
    database: SwitchDatabase,
) -> None:
    """Leaving waits for what was asked before, and refuses what comes after."""
    asked, answering = asyncio.Event(), asyncio.Event()

    async def slowly(_: object) -> workspaces_pb2.ListWorkspacesResponse:
        asked.set()
        await answering.wait()
        return workspaces_pb2.ListWorkspacesResponse()

    method = f"{RETRIEVER}.WorkspaceService.ListWorkspaces"
    async with downstream({method: slowly}) as retriever:
        settings = settings_for(database, retriever.address).model_copy(
            update={"drain_grace_s": 5.0}
        )
        async with running_gateway(settings, metrics=Metrics()) as gateway:
            client = httpx.AsyncClient(base_url=f"http://{gateway.http_address}")
            request = asyncio.create_task(client.get("/v1/workspaces"))
            await asked.wait()
            asyncio.get_running_loop().call_later(0.2, answering.set)
        answer = await request
        with pytest.raises(httpx.ConnectError):
            await client.get("/livez")
        await client.aclose()

    assert answer.json() == {"workspaces": []}
