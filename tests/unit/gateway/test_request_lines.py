"""What the log says of an HTTP request: enough to find it, and nothing of what was asked."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest
import structlog

from chassis.logs import configure_logs
from chassis.metrics import Metrics
from chassis.tracing.export import SpanExport, spans_exported
from gateway.http.app import http_door
from tests.fakes.captured_log import CapturedLog
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.span_collector import span_collector

TRACE = "0af7651916cd43dd8448eb211c80319c"
QUERY = "le prix du fioul domestique"


@pytest.fixture
def log() -> Iterator[CapturedLog]:
    """Logs as a service does, into memory, and undoes it afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    captured = CapturedLog()
    configure_logs("json", "info", captured.stream)
    yield captured
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


async def search(mesh: MeshOfFakes) -> None:
    """Asks once, as part of a trace."""
    transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as client:
        await client.post(
            "/v1/search",
            json={"workspace": "negoce", "query": QUERY},
            headers={"X-Request-Id": "r-1", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"},
        )


async def test_a_request_is_logged_with_both_ids(mesh: MeshOfFakes, log: CapturedLog) -> None:
    """Method, route, status and time as well; the question stands in no line."""
    with span_collector() as collector, spans_exported(SpanExport("gateway", collector.url)):
        await search(mesh)
    (line,) = log.named("request")
    assert (line["request_id"], line["trace_id"]) == ("r-1", TRACE)
    assert (line["method"], line["route"]) == ("POST", "/v1/search")
    assert line["status"] in range(200, 600)
    assert line["milliseconds"] >= 0
    assert QUERY not in log.stream.getvalue()


async def test_without_spans_a_request_has_its_own_id_alone(
    mesh: MeshOfFakes, log: CapturedLog
) -> None:
    """What nobody records must not look as if it could be found."""
    await search(mesh)
    (line,) = log.named("request")
    assert line["request_id"] == "r-1"
    assert "trace_id" not in line
