"""Callers that leave, and places: slow models hold up neither searches nor vendors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio
import httpx
import pytest

from chassis.errors import Unavailable
from gateway.admission.admission import Admission, AdmissionLimits
from justesse.gateway.v1 import answers_pb2, answers_pb2_grpc, search_pb2, search_pb2_grpc
from tests.fakes.answers.doors import WORKSPACE, AnswerDoors, answer_doors
from tests.fakes.answers.tile_trade import QUESTION, RETURNS_MARK, fill
from tests.fakes.answers.vendor import answer_models, breaks_off
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.vendor import FakeVendor, hang

BODY = {"workspace": WORKSPACE, "query": QUESTION}
CHAT = {"model": WORKSPACE, "messages": [{"role": "user", "content": QUESTION}]}
SPOKEN = (
    "Le délai de retour des carreaux est de 30 jours après la livraison de la commande au client "
    f"{RETURNS_MARK}. Et puis"
)


@asynccontextmanager
async def slow_desk(
    mesh: MeshOfFakes, spoken: str = "", daily_cap: float | None = None
) -> AsyncIterator[tuple[AnswerDoors, FakeVendor]]:
    """Doors over a vendor that falls silent, after some words or before any."""
    fill(mesh)
    reaction = breaks_off(spoken, "silent") if spoken else hang()
    async with answer_models(reaction, idle_limit_s=300, daily_cap=daily_cap) as (vendor, models):
        mesh.models = models
        async with answer_doors(mesh) as doors:
            yield doors, vendor


def _asked(doors: AnswerDoors) -> grpc.aio.UnaryStreamCall[object, object]:
    search = search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=QUESTION)
    stub = answers_pb2_grpc.AnswerServiceStub(doors.channel)
    return stub.AnswerQuestion(answers_pb2.AnswerQuestionRequest(search=search))  # type: ignore[return-value]


@pytest.mark.parametrize("spoken", ["", SPOKEN])
async def test_who_leaves_over_grpc_stops_the_vendor(mesh: MeshOfFakes, spoken: str) -> None:
    """Before a word has come, and after some."""
    async with slow_desk(mesh, spoken) as (doors, vendor):
        call = _asked(doors)
        await call.read()  # the sources
        if spoken:
            await call.read()
        await vendor.reached.wait()
        call.cancel()
        await vendor.left()


async def test_what_was_said_until_then_is_paid(mesh: MeshOfFakes) -> None:
    """Leaving early is no way around the daily cost cap."""
    async with slow_desk(mesh, SPOKEN, daily_cap=1e-9) as (doors, vendor):
        call = _asked(doors)
        await call.read()
        await call.read()
        assert mesh.models is not None
        assert mesh.models.costs.may_pay(WORKSPACE)
        call.cancel()
        await vendor.left()
        heard = await doors.ask("json")

    assert heard.stage == ("DEGRADED", "DAILY_COST_CAP_REACHED")
    assert len(vendor.received) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/answer", {**BODY, "stream": True}),
        ("/v1/chat/completions", {**CHAT, "stream": True}),
    ],
)
async def test_who_leaves_a_stream_stops_the_vendor(
    mesh: MeshOfFakes, path: str, body: dict[str, object]
) -> None:
    """In the middle of server-sent events, ours and OpenAI's."""
    async with slow_desk(mesh, SPOKEN) as (doors, vendor):
        async with doors.http.stream("POST", path, json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith('data: {"text"') or '"content":"Le' in line:
                    break
        await vendor.left()


async def test_who_leaves_before_the_whole_answer_stops_the_vendor(mesh: MeshOfFakes) -> None:
    """A caller of plain JSON that closes its connection."""
    async with slow_desk(mesh) as (doors, vendor):
        async with httpx.AsyncClient(base_url=doors.http.base_url, timeout=60) as caller:
            asking = asyncio.ensure_future(caller.post("/v1/answer", json=BODY))
            await vendor.reached.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await vendor.left()


async def test_an_answer_being_written_holds_no_place_of_a_search(mesh: MeshOfFakes) -> None:
    """With a single place for queries, searches go on beside it."""
    mesh.queries = Admission(AdmissionLimits(at_work=1, waiting=0, longest_wait_s=0.1))
    async with slow_desk(mesh) as (doors, vendor):
        call = _asked(doors)
        await vendor.reached.wait()
        stub = search_pb2_grpc.SearchServiceStub(doors.channel)
        found = await stub.SearchPassages(
            search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=QUESTION)
        )
        call.cancel()

    assert len(found.hits) == 3


async def test_without_the_retriever_nothing_is_answered(mesh: MeshOfFakes) -> None:
    """No door makes up an answer without passages, and none begins one; no model is asked."""
    async with slow_desk(mesh, SPOKEN) as (doors, vendor):
        mesh.retriever.behaviour.error = Unavailable("the retriever is lost")
        refused = [
            await doors.http.post("/v1/answer", json=BODY),
            await doors.http.post("/v1/answer", json={**BODY, "stream": True}),
            await doors.http.post("/v1/chat/completions", json=CHAT),
            await doors.http.post("/v1/chat/completions", json={**CHAT, "stream": True}),
        ]
        with pytest.raises(grpc.aio.AioRpcError) as over_grpc:
            await _asked(doors).read()

    assert [answer.status_code for answer in refused] == [503] * 4
    assert over_grpc.value.code() is grpc.StatusCode.UNAVAILABLE
    assert vendor.received == []


async def test_answers_have_a_bound_of_their_own(mesh: MeshOfFakes) -> None:
    """What is too much is refused at once, at each door in its shape; a place is given back."""
    mesh.answering = Admission(AdmissionLimits(at_work=1, waiting=0, longest_wait_s=0.1))
    async with slow_desk(mesh) as (doors, vendor):
        call = _asked(doors)
        await vendor.reached.wait()
        refused = [
            await doors.http.post("/v1/answer", json=BODY),
            await doors.http.post("/v1/answer", json={**BODY, "stream": True}),
            await doors.http.post("/v1/chat/completions", json=CHAT),
            await doors.http.post("/v1/chat/completions", json={**CHAT, "stream": True}),
        ]
        with pytest.raises(grpc.aio.AioRpcError) as over_grpc:
            await _asked(doors).read()
        call.cancel()
        await vendor.left()
        mesh.retriever.hits = []
        while (await doors.http.post("/v1/answer", json=BODY)).status_code == 429:
            pass

    assert [answer.status_code for answer in refused] == [429] * 4
    assert refused[0].json()["error"]["reason"] == "OVERLOADED"
    assert refused[2].json()["error"]["type"] == "rate_limit_error"
    assert over_grpc.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
