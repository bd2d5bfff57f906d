"""Ten times as many searches as there are places, over a real server: each ends as promised."""

from __future__ import annotations

import asyncio
from collections import Counter

import grpc.aio

from gateway.admission.admission import Admission, AdmissionLimits
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from tests.fakes.gateway_services.grpc_door import grpc_door
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

AT_WORK, WAITING = 4, 8


async def test_a_flood_is_refused_in_words_and_leaves_nothing_behind(
    mesh: MeshOfFakes, soak: bool
) -> None:
    """Whatever is not answered is RESOURCE_EXHAUSTED; the stages never see more calls at a time
    than there are places; a workspace that asks little is answered; afterwards all is as before."""
    mesh.retriever.add_workspace("calme")
    mesh.queries = Admission(AdmissionLimits(AT_WORK, WAITING, 60.0))
    at_work = most = 0

    async def held(_seconds: float | None) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.002)
        at_work -= 1

    mesh.retriever.behaviour.before = held
    statuses: dict[str, Counter[str]] = {"negoce": Counter(), "calme": Counter()}

    async with grpc_door(mesh) as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)

        async def search(workspace: str, number: int) -> None:
            request = search_pb2.SearchPassagesRequest(workspace=workspace, query=f"q{number}")
            try:
                await stub.SearchPassages(request, timeout=60)
            except grpc.aio.AioRpcError as error:
                statuses[workspace][error.code().name] += 1
            else:
                statuses[workspace]["OK"] += 1

        flood = 10 * (AT_WORK + WAITING)
        for wave in range(50 if soak else 3):
            async with asyncio.TaskGroup() as group:
                for number in range(flood):
                    group.create_task(search("negoce", wave * flood + number))
                await asyncio.sleep(0.001)
                group.create_task(search("calme", wave))
        before = statuses["negoce"]["OK"]
        for number in range(5):
            await search("negoce", number)

    assert statuses["negoce"].keys() == {"OK", "RESOURCE_EXHAUSTED"}
    assert before >= AT_WORK
    assert statuses["negoce"]["OK"] == before + 5
    assert statuses["calme"].keys() == {"OK"}
    assert most <= AT_WORK
    turns = mesh.queries._turns
    assert (turns.at_work_count, turns.waiting_count, turns._queues) == (0, 0, {})
