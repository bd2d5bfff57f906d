"""Search options from every door to the retriever and back, over the services themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.application import Services, assembled
from gateway.clients.reranker import RerankerClient
from gateway.clients.retriever import RetrieverClient
from gateway.documents import Document, FloatMatrix, Passage, VectorBlock
from gateway.http.app import http_door
from gateway.mesh import Mesh
from gateway.servicer.served import served_services
from gateway.switches.switching import Switching
from gateway.workspaces import WorkspaceSettings
from justesse.client import AsyncJustesse, Fusion, Hit, SearchResult, Threshold
from reranker_svc.service import running_reranker
from reranker_svc.settings import RerankerSettings
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.gateway_services.glossary import empty_board
from tests.fakes.gateway_services.jobs import FakeJobs
from tests.fakes.gateway_services.keys import open_access
from tests.fakes.gateway_services.models import FakeEmbedder, FakeRewriter
from tests.fakes.gateway_services.roles import FakeIngestion, FakeReembedding
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.gateway_services.switch_rules import FakeRuleStore

SPACE = "fake/weeks@1/4/l2/none"
QUESTION = "plan de quai"
DISTANCES = (0.69, 0.72, 0.76)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Doors:
    """Both doors of one gateway, and what its embedder does."""

    http: httpx.AsyncClient
    client: AsyncJustesse
    embedder: FakeEmbedder

    async def over_http(self, **options: Any) -> dict[str, Any]:
        """Searches over HTTP."""
        body = {"workspace": "negoce", "query": QUESTION, "limit": 100, **options}
        answer = await self.http.post("/v1/search", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def over_grpc(self, **options: Any) -> SearchResult:
        """Searches with the client."""
        return await self.client.search("negoce", QUESTION, **{"limit": 100, **options})


def _vector(distance: float) -> FloatMatrix:
    """Returns a unit vector at this distance from the question's."""
    cosine = 1 - distance
    return np.array([cosine, np.sqrt(1 - cosine**2), 0, 0], np.float32)


async def _fill(retriever: RetrieverClient) -> None:
    """Documents of two weeks, and of none, at three distances; one has no vector."""
    await retriever.create_workspace("negoce", WorkspaceSettings("fr", "structure", "default"))
    for week in (12.0, 13.0, None):
        for distance in DISTANCES:
            name = f"{week}/{distance}"
            await retriever.upsert_document(
                "negoce",
                Document(name, name, metadata={} if week is None else {"week": week}),
                [Passage(0, "L’ÉTÉ, au Quai."), Passage(1, f"Suite {distance}.")],
                [VectorBlock(SPACE, np.stack([_vector(distance), _vector(distance)]))],
            )
    await retriever.upsert_document("negoce", Document("late", ""), [Passage(0, "un plan")], [])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    """A gateway over a real retriever and reranker."""
    folder = tmp_path_factory.mktemp("doors")
    async with AsyncExitStack() as stack:
        servers = (
            await stack.enter_async_context(
                running_retriever(RetrieverSettings(port=0, data_folder=folder / "store"))
            ),
            await stack.enter_async_context(
                running_reranker(RerankerSettings(port=0, drain_grace_s=0.0), metrics=Metrics())
            ),
        )
        to_retriever, to_reranker = [
            await stack.enter_async_context(open_channel(server.address, metrics=Metrics()))
            for server in servers
        ]
        retriever = RetrieverClient(to_retriever)
        await _fill(retriever)
        embedder = FakeEmbedder(vector_of=lambda _text, _space: _vector(0.0))
        services = Services(
            FakeRewriter(),
            embedder,
            retriever,
            RerankerClient(to_reranker),
            FakeIngestion(),
            FakeJobs(),
            FakeReembedding(),
        )
        switches = Switching(SwitchDatabase(folder / "gateway.sqlite").board(), FakeRuleStore())
        application = assembled(
            services, switches, empty_board(), Mesh([], embedder), *open_access()
        )
        served = await stack.enter_async_context(
            running_server(
                served_services(application), ServerSettings(drain_grace_s=0.0), metrics=Metrics()
            )
        )
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(http_door(application, Metrics())),
                base_url="http://gateway.test",
            )
        )
        client = await stack.enter_async_context(AsyncJustesse(served.address))
        yield Doors(http, client, embedder)


async def test_distances_differ_for_the_week_looked_at(doors: Doors) -> None:
    """0.75 in that week and 0.70 elsewhere, by every door; the passage without a vector by terms.

    The receipt counts what each rule dropped.
    """
    week = {"space_id": SPACE, "context_field": "week"}
    rules = [
        {**week, "max_distance": 0.75},
        {**week, "max_distance": 0.70, "context_differs": True},
    ]
    over_http = await doors.over_http(thresholds=rules, context={"week": 12})
    over_grpc = await doors.over_grpc(
        thresholds=[
            Threshold(SPACE, max_distance=0.75, context_field="week"),
            Threshold(SPACE, max_distance=0.70, context_field="week", context_differs=True),
        ],
        context={"week": 12},
    )
    expected = {"12.0/0.69", "12.0/0.72", "13.0/0.69", "None/0.69", "late"}

    assert {hit["source"]["external_id"] for hit in over_http["hits"]} == expected
    assert {hit.source.external_id for hit in over_grpc.hits} == expected
    (search,) = [stage for stage in over_http["receipt"]["stages"] if stage["stage"] == "search"]
    assert "thresholds[0] dropped 2; thresholds[1] dropped 8" in search["detail"]
    assert {hit.scores.term_share for hit in over_grpc.hits} == {None, 0.5}


async def test_without_the_embedder_terms_judge(doors: Doors) -> None:
    """A floor on a cosine still keeps out what says nothing of the question."""
    doors.embedder.lost_spaces = {SPACE}
    try:
        result = await doors.client.search(
            "negoce",
            "quai inconnu de tous",
            limit=100,
            thresholds=[Threshold(SPACE, max_distance=0.1, min_term_share=0.3)],
        )
    finally:
        doors.embedder.lost_spaces = set()

    assert {hit.text for hit in result.hits} == {"L’ÉTÉ, au Quai."}
    assert result.receipt.degraded


async def test_pages_groups_and_highlights_agree_between_the_doors(doors: Doors) -> None:
    """The same pages of the same order, marked alike; together they are the whole."""
    options = {"group_by_document": True, "highlight": True, "candidate_count": 200}
    whole = await doors.over_grpc(**options)
    over_http: list[dict[str, Any]] = []
    over_grpc: list[Hit] = []
    token = grpc_token = ""
    while True:
        page = await doors.over_http(limit=3, page_token=token, **options)
        grpc_page = await doors.over_grpc(limit=3, page_token=grpc_token, **options)
        over_http += page["hits"]
        over_grpc += grpc_page.hits
        assert page["total_count"] == grpc_page.total_count == whole.total_count == 10
        token, grpc_token = page["next_page_token"], grpc_page.next_page_token
        if not token:
            break

    ids = [hit.passage_id for hit in whole.hits]
    assert [hit["passage_id"] for hit in over_http] == ids
    assert [hit.passage_id for hit in over_grpc] == ids
    assert [hit.rank for hit in over_grpc] == list(range(1, len(ids) + 1))
    assert not whole.window_cut
    marked = {
        (hit.text, *(hit.text[span.start : span.end] for span in hit.highlights))
        for hit in whole.hits
    }
    assert ("L’ÉTÉ, au Quai.", "Quai") in marked
    assert ("un plan", "plan") in marked


async def test_fusion_settings_reach_the_receipt(doors: Doors) -> None:
    """Those of the workspace, and those of one search; a bad one is refused by both doors."""
    await doors.client.update_workspace("negoce", fusion=Fusion(rank_constant=20))
    kept = await doors.over_grpc()
    changed = await doors.over_http(fusion={"lexical_weight": 0.5})
    reset = await doors.http.patch("/v1/workspaces/negoce", json={"reset_fusion": True})

    details = [stage.detail for stage in kept.receipt.stages if stage.stage == "search"]
    assert "k = 20; weights: bm25 1, spaces 1" in details[0]
    (search,) = [stage for stage in changed["receipt"]["stages"] if stage["stage"] == "search"]
    assert "k = 20; weights: bm25 0.5, spaces 1" in search["detail"]
    assert reset.json()["settings"]["fusion"]["rank_constant"] == 60
