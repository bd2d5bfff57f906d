"""In a flood most calls are shed before anything is made of them, and a few are looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from chassis.metrics import Metrics
from gateway.access.needs import ROUTE_NEEDS, RPC_NEEDS
from gateway.admission.admission import Admission, AdmissionLimits
from gateway.admission.admission_metrics import AdmissionMetrics, AdmissionSeries
from gateway.admission.bounded_calls import QUERY_METHODS, QUERY_ROUTES
from gateway.admission.floodgate import CONSIDERED_A_SECOND, AdmissionFloodgate
from gateway.http.app import http_door
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Returns the seconds."""
        return self.now


@pytest.fixture
def registry() -> CollectorRegistry:
    """Where the metrics are kept."""
    return CollectorRegistry()


@pytest.fixture
async def full(registry: CollectorRegistry) -> AsyncIterator[Admission]:
    """An admission with its only place taken, and nobody who may wait."""
    metrics = AdmissionMetrics(AdmissionSeries(registry), "queries")
    admission = Admission(AdmissionLimits(1, 0, 2.0), metrics)
    async with admission.place_for("w"):
        yield admission


async def test_nothing_is_shed_while_there_is_room() -> None:
    """At work or waiting: admission decides, however many come."""
    admission = Admission(AdmissionLimits(1, 1, 2.0))
    gate = AdmissionFloodgate(admission, Clock())
    before = [gate.sheds() for _ in range(200)]
    async with admission.place_for("w"):
        with_room_to_wait = [gate.sheds() for _ in range(200)]

    assert not any(before)
    assert not any(with_room_to_wait)


async def test_so_many_a_second_are_looked_at_in_a_flood(
    full: Admission, registry: CollectorRegistry
) -> None:
    """A small burst, then the rate; each that is shed is counted, and one line says so."""
    clock = Clock()
    gate = AdmissionFloodgate(full, clock)
    with capture_logs() as logs:
        burst = [gate.sheds() for _ in range(300)]
        clock.now += 0.1
        later = [gate.sheds() for _ in range(300)]

    assert burst.index(True) == 50
    assert burst.count(False) == 50
    assert later.count(False) == round(CONSIDERED_A_SECOND * 0.1)
    shed = registry.get_sample_value(
        "justesse_unadmitted_calls_total", {"kind": "queries", "reason": "shed"}
    )
    assert shed == burst.count(True) + later.count(True)
    assert [(line["event"], line["calls"]) for line in logs] == [("calls are shed", 1)]


async def test_the_log_says_every_ten_seconds_how_many_were_shed(full: Admission) -> None:
    """So that a flood of calls is no flood of lines."""
    clock = Clock()
    gate = AdmissionFloodgate(full, clock)
    with capture_logs() as logs:
        for _ in range(3):
            for _ in range(1_000):
                gate.sheds()
            clock.now += 10.0
    counts = [line["calls"] for line in logs]

    assert len(counts) == 3
    assert counts[0] == 1
    assert sum(counts) <= 3 * 1_000


def test_what_is_shed_are_calls_that_there_are() -> None:
    """Every RPC and route that takes a place stands in the table of what calls need."""
    assert set(RPC_NEEDS) >= QUERY_METHODS
    assert set(ROUTE_NEEDS) >= QUERY_ROUTES


async def test_requests_are_shed_as_calls_are(mesh: MeshOfFakes) -> None:
    """429 with Retry-After and the id of the request, before its key or body is looked at."""
    admission = Admission(AdmissionLimits(1, 0, 2.0))
    mesh.queries = admission
    application = replace(mesh.application(), floodgate=AdmissionFloodgate(admission, Clock()))
    transport = httpx.ASGITransport(http_door(application, Metrics()))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as http,
        admission.place_for("w"),
    ):
        answers = await asyncio.gather(
            *(
                http.post("/v1/search", content=b"{", headers={"X-Request-Id": f"id-{number}"})
                for number in range(80)
            )
        )
        other = await http.get("/v1/workspaces")

    shed = [answer for answer in answers if answer.status_code == 429]
    assert len(shed) == 30
    assert {answer.status_code for answer in answers} == {400, 429}
    assert {answer.headers["Retry-After"] for answer in shed} == {"2"}
    assert shed[0].json()["error"]["reason"] == "OVERLOADED"
    assert shed[-1].headers["X-Request-Id"].startswith("id-")
    assert other.status_code == 200
