"""As many calls as can be worked on are let in; nobody's flood takes another's places."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from chassis.deadline import narrowed_deadline
from chassis.errors import DeadlineExceeded, ResourceExhausted, ServiceError
from chassis.metrics import Metrics
from gateway.admission.admission import Admission, AdmissionLimits
from gateway.admission.admission_metrics import AdmissionMetrics, AdmissionSeries
from gateway.admission.turns import Turns
from gateway.http.app import http_door
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from tests.fakes.gateway_services.grpc_door import grpc_door, refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

PATIENT = AdmissionLimits(at_work=2, waiting=100, longest_wait_s=60)


async def settle() -> None:
    """Lets every task run as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Work:
    """Calls that hold their places until they are let go."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.begun: list[str] = []
        self.go_on = asyncio.Event()

    async def call(self, workspace: str) -> None:
        """Takes a place and holds it."""
        async with self.admission.place_for(workspace):
            self.begun.append(workspace)
            await self.go_on.wait()


async def test_places_are_given_in_turn_to_workspaces() -> None:
    """A workspace that sends ten times as many calls gets no more places than the other."""
    admission = Admission(PATIENT)
    order: list[str] = []

    async def call(workspace: str) -> None:
        async with admission.place_for(workspace):
            order.append(workspace)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(call("loud")) for _ in range(40)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(call("quiet")) for _ in range(4)]
    await asyncio.gather(*tasks)

    assert len(order) == 44
    assert Counter(order[:12])["quiet"] == 4


async def test_beyond_the_queue_calls_are_refused_at_once() -> None:
    """With the time after which to come again; those who wait keep their turn."""
    registry = CollectorRegistry()
    metrics = AdmissionMetrics(AdmissionSeries(registry), "queries")
    work = Work(Admission(AdmissionLimits(1, 2, 30.0), metrics))
    tasks = [asyncio.create_task(work.call("w")) for _ in range(3)]
    await settle()

    with pytest.raises(ResourceExhausted, match="works on 1 calls of this kind, and 2 wait") as no:
        await work.call("w")
    assert (no.value.reason, no.value.retry_after_s) == ("OVERLOADED", 30.0)
    value = registry.get_sample_value
    assert value("justesse_calls_at_work", {"kind": "queries"}) == 1
    assert value("justesse_calls_waiting", {"kind": "queries"}) == 2
    work.go_on.set()
    await asyncio.gather(*tasks)

    assert work.begun == ["w"] * 3
    assert value("justesse_admitted_calls_total", {"kind": "queries"}) == 3
    refused = {"kind": "queries", "reason": "queue_full"}
    assert value("justesse_unadmitted_calls_total", refused) == 1
    assert value("justesse_calls_at_work", {"kind": "queries"}) == 0


async def test_the_longest_queue_gives_way_to_another_workspace() -> None:
    """Its latest call is refused in place of the newcomer."""
    work = Work(Admission(AdmissionLimits(1, 4, 30.0)))
    loud = [asyncio.create_task(work.call("loud")) for _ in range(5)]
    await settle()
    quiet = asyncio.create_task(work.call("quiet"))
    await settle()
    work.go_on.set()
    outcomes = await asyncio.gather(*loud, quiet, return_exceptions=True)

    assert [isinstance(each, ResourceExhausted) for each in outcomes] == [
        *[False] * 4,
        True,
        False,
    ]
    assert work.begun.count("quiet") == 1


async def test_a_call_whose_time_ends_while_it_waits_is_dropped() -> None:
    """So is one that has waited longest, and one whose caller left; none of them did any work."""
    work = Work(Admission(AdmissionLimits(1, 10, 0.05)))
    holder = asyncio.create_task(work.call("w"))
    await settle()

    with narrowed_deadline(0.01), pytest.raises(DeadlineExceeded, match="nothing was"):
        await work.call("w")
    with pytest.raises(ResourceExhausted):
        await work.call("w")
    left = asyncio.create_task(work.call("w"))
    await settle()
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    work.go_on.set()
    await holder

    assert work.begun == ["w"]
    assert work.admission._turns.waiting_count == work.admission._turns.at_work_count == 0
    assert work.admission._turns._queues == {}


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 2**32))
def test_no_place_is_lost_or_given_twice(at_work: int, waiting: int, seed: int) -> None:
    """However calls end, come and leave: never more at work than allowed, and in the end none."""
    random = Random(seed)
    most = 0

    async def storm() -> Turns:
        admission = Admission(AdmissionLimits(at_work, waiting, 0.002))
        now = 0

        async def call(workspace: str) -> None:
            nonlocal now, most
            async with admission.place_for(workspace):
                now += 1
                most = max(most, now)
                try:
                    await asyncio.sleep(random.choice((0, 0, 0.001, 0.003)))
                    if random.random() < 0.2:
                        raise ValueError
                finally:
                    now -= 1

        tasks = []
        for _ in range(60):
            tasks.append(asyncio.create_task(call(random.choice("abc"))))
            if random.random() < 0.3:
                random.choice(tasks).cancel()
            if random.random() < 0.5:
                await asyncio.sleep(random.choice((0, 0.001)))
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome in outcomes:
            assert outcome is None or isinstance(
                outcome, (ServiceError, ValueError, asyncio.CancelledError)
            )
        return admission._turns

    turns = asyncio.run(storm())
    assert most <= at_work
    assert (turns.at_work_count, turns.waiting_count, turns._queues) == (0, 0, {})


async def test_both_doors_share_the_places_and_say_when_to_come_again(mesh: MeshOfFakes) -> None:
    """429 with Retry-After, RESOURCE_EXHAUSTED with RetryInfo; health and uploads go on."""
    mesh.queries = Admission(AdmissionLimits(1, 0, 2.0))
    mesh.rewriter.behaviour.hangs = True
    request = search_pb2.SearchPassagesRequest(workspace="negoce", query="conteneur")
    async with grpc_door(mesh) as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        held = stub.SearchPassages(request, timeout=60)
        while not mesh.rewriter.calls:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)
        status, error = await refusal(stub.SearchPassages(request))
        transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as http:
            answer = await http.post("/v1/search", json={"workspace": "negoce", "query": "q"})
            live = await http.get("/livez")
            taken = await http.post(
                "/v1/documents", data={"workspace": "negoce"}, files={"file": ("n.md", b"text")}
            )
        held.cancel()

    assert (status, error.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
    assert getattr(error, "retry_after_s", None) == 2.0
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "2")
    assert live.status_code == 200
    assert taken.status_code < 300
