"""Embedding a workspace again, switching and dropping spaces: through both doors, over fakes."""

from __future__ import annotations

import asyncio
import json

import grpc.aio
import httpx
import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, Unavailable
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.clients.reembedding import ReembeddingClient
from gateway.ingestion.servicer import served_spaces
from gateway.reembedding import (
    GateVerdict,
    LabelledQuestion,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    ReembeddingRequest,
    SwitchGate,
)
from gateway.space_work import SpaceWork
from justesse.gateway.v1 import spaces_pb2, spaces_pb2_grpc
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.roles import FakeReembedding
from tests.fakes.idle_spaces import IdleSpaces

EVENTS: list[ReembeddingEvent] = [
    ReembeddingPlan("old", "new", "mistral", "mistral-embed", 9, 7, 1234, 0.5, "USD"),
    ReembeddingProgress(4, 9, 1, 600, 0.25, "USD"),
    ReembeddingProgress(9, 9, 1, 1200),
    GateVerdict(3, 8, 0.5, 1.0, 0.75, "hit rate falls"),
    ReembeddingOutcome(False, "old", "old", 1, "hit rate falls"),
]
REQUEST = ReembeddingRequest(
    "negoce",
    "mistral",
    keep_preferred=True,
    gate=SwitchGate((LabelledQuestion("Où ?", ("a.md",)),), 5, 0.5, 0.25),
)
BODY = {
    "space_id": "mistral",
    "keep_preferred": True,
    "gate": {
        "questions": [{"query": "Où ?", "external_ids": ["a.md"]}],
        "hit_count": 5,
        "min_overlap": 0.5,
        "max_hit_loss": 0.25,
    },
}


async def told(reembedding: FakeReembedding, request: ReembeddingRequest) -> list[ReembeddingEvent]:
    """Returns the events that reach a caller of the ingestion role over a socket."""
    service = served_spaces(SpaceWork(reembedding, IdleSpaces()))
    settings = ServerSettings(drain_grace_s=0.0)
    async with (
        running_server([service], settings, metrics=Metrics()) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        return [event async for event in ReembeddingClient(channel).reembed(request)]


async def test_every_field_passes_between_the_roles() -> None:
    """What the ingestion role tells is what the query role hears, and the request likewise."""
    reembedding = FakeReembedding(EVENTS)

    assert await told(reembedding, REQUEST) == EVENTS
    assert reembedding.requests == [REQUEST]
    assert reembedding.closed == 1


async def test_an_error_between_the_roles_keeps_its_words() -> None:
    """Its kind, reason and text are those that the ingestion role gave."""
    failing = FakeReembedding([], FailedPrecondition("no passages", reason="NOTHING_TO_EMBED"))
    with pytest.raises(FailedPrecondition, match="no passages") as refused:
        await told(failing, REQUEST)

    assert refused.value.reason == "NOTHING_TO_EMBED"


def events_of(text: str) -> list[tuple[str, dict[str, object]]]:
    """Reads server-sent events."""
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in blocks
    ]


async def test_progress_comes_as_server_sent_events(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """One event each, in order, with every field; the request is read whole."""
    mesh.reembedding.events = EVENTS
    answer = await http.post("/v1/workspaces/negoce/reembed", json=BODY)
    events = events_of(answer.text)

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert mesh.reembedding.requests == [REQUEST]
    assert [name for name, _ in events] == ["plan", "progress", "progress", "verdict", "outcome"]
    assert events[0][1]["cost_estimate"] == 0.5
    assert events[1][1] == {
        "done_passage_count": 4,
        "passage_count": 9,
        "refused_passage_count": 1,
        "input_token_count": 600,
        "cost": 0.25,
        "currency": "USD",
    }
    assert "cost" not in events[2][1]
    assert events[3][1]["passed"] is False
    assert events[4][1]["detail"] == "hit rate falls"


async def test_a_failure_before_the_first_event_is_an_ordinary_error(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """With its own status code; later ones end the stream as an event."""
    mesh.reembedding.failure = Unavailable("the provider is down", reason="PROVIDER_UNAVAILABLE")
    first = await http.post("/v1/workspaces/negoce/reembed", json={})
    mesh.reembedding.events = EVENTS[:2]
    later = await http.post("/v1/workspaces/negoce/reembed", json={})
    *_, (name, body) = events_of(later.text)

    assert (first.status_code, first.json()["error"]["reason"]) == (503, "PROVIDER_UNAVAILABLE")
    assert (later.status_code, name) == (200, "error")
    assert body["error"]["message"] == "the provider is down"  # type: ignore[index]
    assert mesh.reembedding.closed == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"space_id": "s" * 257}, "space_id"),
        ({"gate": {"questions": []}}, "gate.questions"),
        ({"gate": BODY["gate"] | {"min_overlap": 1.5}}, "gate.min_overlap"),  # type: ignore[operator]
        ({"gate": BODY["gate"] | {"max_hit_loss": -1}}, "gate.max_hit_loss"),  # type: ignore[operator]
        ({"gate": BODY["gate"] | {"hit_count": 0}}, "gate.hit_count"),  # type: ignore[operator]
        (
            {"gate": {"questions": [{"query": " ", "external_ids": ["a"]}]}},
            "gate.questions[0].query",
        ),
        (
            {"gate": {"questions": [{"query": "x", "external_ids": []}]}},
            "gate.questions[0].external_ids",
        ),
    ],
)
async def test_wrong_requests_are_refused_by_field(
    http: httpx.AsyncClient, mesh: MeshOfFakes, body: dict[str, object], field: str
) -> None:
    """Before anybody is asked."""
    answer = await http.post("/v1/workspaces/negoce/reembed", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["field_violations"][0]["field"] == field
    assert mesh.reembedding.requests == []


async def test_spaces_are_switched_and_dropped_through_both_doors(
    http: httpx.AsyncClient, channel: grpc.aio.Channel
) -> None:
    """A space must be named, and the answers hold what the retriever said."""
    stub = spaces_pb2_grpc.SpaceServiceStub(channel)
    switched = await http.post("/v1/workspaces/negoce/spaces/switch", json={"space_id": "s"})
    dropped = await http.delete("/v1/workspaces/negoce/spaces", params={"space_id": "s"})
    all_dropped = await http.delete(
        "/v1/workspaces/negoce/spaces", params={"space_id": "s", "leave_waiting": "true"}
    )
    nameless = await http.post("/v1/workspaces/negoce/spaces/switch", json={"space_id": ""})
    over_grpc = await stub.SwitchSpace(
        spaces_pb2.SwitchSpaceRequest(workspace="negoce", space_id="s")
    )
    request = spaces_pb2.DropSpaceRequest(workspace="negoce", space_id="s")
    gone = await stub.DropSpace(request)
    request.leave_waiting = True
    all_gone = await stub.DropSpace(request)

    assert switched.json() == {"previous_space_id": "before s", "awaiting_passage_count": 2}
    assert (dropped.json(), all_dropped.json()) == ({"vector_count": 3}, {"vector_count": 4})
    assert nameless.status_code == 400
    assert (over_grpc.previous_space_id, over_grpc.awaiting_passage_count) == ("before s", 2)
    assert (gone.vector_count, all_gone.vector_count) == (3, 4)


async def test_the_query_role_streams_over_grpc(
    channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """All events arrive; a wrong request is refused before anybody is asked."""
    mesh.reembedding.events = EVENTS
    stub = spaces_pb2_grpc.SpaceServiceStub(channel)
    call = stub.ReembedWorkspace(spaces_pb2.ReembedWorkspaceRequest(workspace="negoce"))
    heard = [response.WhichOneof("event") async for response in call]
    wrong = stub.ReembedWorkspace(spaces_pb2.ReembedWorkspaceRequest(workspace="Négoce"))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wrong.read()

    assert heard == ["plan", "progress", "progress", "verdict", "outcome"]
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert len(mesh.reembedding.requests) == 1
    assert InvalidArgument.default_reason in str(refused.value.trailing_metadata())


async def test_a_caller_who_leaves_ends_the_work(
    channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """Nobody pays for what nobody waits for: the work is closed while it would go on."""
    mesh.reembedding.events = EVENTS[:2]
    mesh.reembedding.hangs = True
    stub = spaces_pb2_grpc.SpaceServiceStub(channel)
    call = stub.ReembedWorkspace(spaces_pb2.ReembedWorkspaceRequest(workspace="negoce"))
    heard = [await anext(aiter(call)) for _ in range(2)]
    assert not mesh.reembedding.ended.is_set()
    call.cancel()
    async with asyncio.timeout(10):
        await mesh.reembedding.ended.wait()

    assert [response.WhichOneof("event") for response in heard] == ["plan", "progress"]
