"""Spans of calls: on both sides of each, tied to one tree, and sent to a collector."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from chassis.binding import StartError
from chassis.channel import open_channel
from chassis.errors import NotFound, Unavailable
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from chassis.tracing.export import SpanExport, span_export, spans_exported
from chassis.tracing.spans import current_trace_id, current_tracer, span
from tests.fakes.captured_log import CapturedLog
from tests.fakes.probe_service import (
    KINDS,
    UNARY,
    call_all_kinds,
    consumed,
    probe,
    unary,
)
from tests.fakes.span_collector import SpanCollector, attributes_of, span_collector

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "texte confidentiel"


def export_to(collector: SpanCollector, ratio: float = 1.0) -> SpanExport:
    """Returns the export of a process named probe."""
    return SpanExport("probe", collector.url, ratio)


def failed(one: Span) -> bool:
    """Whether a span has the status of an error."""
    return one.status.code == Status.STATUS_CODE_ERROR


async def answer(request: Any, context: Any) -> bytes:
    """Answers with nothing."""
    await consumed(request)
    return b""


async def stream(request: Any, context: Any) -> AsyncIterator[bytes]:
    """Sends one message."""
    await consumed(request)
    yield b"1"


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_call_has_a_span_on_each_side(kind: str) -> None:
    """The server's is a child of the client's, which is one of whatever called."""
    with span_collector() as collector:
        with spans_exported(export_to(collector)):
            behaviour = stream if kind.endswith("Stream") else answer
            async with (
                running_server(
                    [probe({kind: behaviour})], ServerSettings(), metrics=Metrics()
                ) as server,
                open_channel(server.address, metrics=Metrics()) as channel,
            ):
                with span("caller"):
                    await call_all_kinds(channel, kind)
        caller, (client, served) = collector.only("caller"), collector.named(kind)

    assert (client.kind, served.kind) == (Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_SERVER)
    assert (client.parent_span_id, served.parent_span_id) == (caller.span_id, client.span_id)
    assert {caller.trace_id} == {client.trace_id} == {served.trace_id}
    for one in (client, served):
        said = attributes_of(one)
        assert (said["rpc.system.name"], said["rpc.method"]) == ("grpc", kind)
        assert said["rpc.response.status_code"] == "OK"
    assert attributes_of(client)["server.port"] == int(server.address.rpartition(":")[2])
    assert (collector.paths[0], collector.services) == ("/v1/traces", {"probe"})


async def test_errors_retries_and_cancelled_calls_are_told_by_their_status() -> None:
    """A refusal is the caller's error alone; each try of a call is seen by the server; a call
    given up ends as cancelled on both sides. No message of an error is in any span."""
    entered = asyncio.Event()
    tries = 0

    async def behave(request: bytes, context: Any) -> bytes:
        nonlocal tries
        if request == b"refuse":
            raise NotFound(SECRET)
        if request == b"retry":
            tries += 1
            if tries < 2:
                raise Unavailable(SECRET)
            return b""
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    with span_collector() as collector:
        with spans_exported(export_to(collector)):
            async with (
                running_server(
                    [probe({UNARY: behave})], ServerSettings(), metrics=Metrics()
                ) as server,
                open_channel(
                    server.address, idempotent_methods=[UNARY], metrics=Metrics()
                ) as channel,
            ):
                call = unary(channel)
                with span("refused"), pytest.raises(grpc.aio.AioRpcError):
                    await call(b"refuse")
                with span("retried"):
                    await call(b"retry")
                with span("given up"):
                    hanging = asyncio.ensure_future(call(b"hang"))
                    await entered.wait()
                    hanging.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await hanging
        spans = collector.named(UNARY)

    def under(name: str) -> tuple[Span, list[Span]]:
        (client,) = [one for one in spans if one.parent_span_id == collector.only(name).span_id]
        return client, [one for one in spans if one.parent_span_id == client.span_id]

    client, (served,) = under("refused")
    assert attributes_of(client)["rpc.response.status_code"] == "NOT_FOUND"
    assert (failed(client), failed(served)) == (True, False)
    client, tried = under("retried")
    assert [attributes_of(one)["rpc.response.status_code"] for one in (client, *tried)] == [
        "OK",
        "UNAVAILABLE",
        "OK",
    ]
    assert [failed(one) for one in (client, *tried)] == [False, True, False]
    client, (served,) = under("given up")
    for one in (client, served):
        assert attributes_of(one)["rpc.response.status_code"] == "CANCELLED"
    assert SECRET.encode() not in b"".join(one.SerializeToString() for one in collector.spans)


@pytest.mark.parametrize(("flag", "count"), [("01", 1), ("00", 0)])
async def test_the_caller_decides_whether_its_trace_is_recorded(flag: str, count: int) -> None:
    """A ratio of 0 counts for traces that begin here only; the trace's id is in every log line."""
    headers = (("traceparent", f"00-{TRACE}-{PARENT}-{flag}"), ("tracestate", "vendor=1"))
    seen: list[str] = []

    async def behave(request: bytes, context: Any) -> bytes:
        seen.append(current_trace_id())
        return request

    with span_collector() as collector:
        with spans_exported(export_to(collector, ratio=0.0)):
            async with (
                running_server(
                    [probe({UNARY: behave})], ServerSettings(), metrics=Metrics()
                ) as server,
                grpc.aio.insecure_channel(server.address) as channel,
            ):
                await unary(channel)(b"", metadata=headers)
                await unary(channel)(b"")
        spans = collector.named(UNARY)

    assert (seen[0], len(spans)) == (TRACE, count)
    assert seen[1] not in {"", TRACE}
    for one in spans:
        assert (one.trace_id.hex(), one.parent_span_id.hex()) == (TRACE, PARENT)
        assert one.trace_state == "vendor=1"


async def test_log_lines_bear_the_id_of_the_trace(log: CapturedLog) -> None:
    """So that a line leads to its trace, the access log's included."""
    with span_collector() as collector, spans_exported(export_to(collector)):
        async with (
            running_server([probe()], ServerSettings(), metrics=Metrics()) as server,
            grpc.aio.insecure_channel(server.address) as channel,
        ):
            await unary(channel)(b"", metadata=(("traceparent", f"00-{TRACE}-{PARENT}-01"),))
    (line,) = log.named("call")
    assert line["trace_id"] == TRACE
    assert set(line) >= {"request_id", "service", "method", "status", "milliseconds"}


async def test_a_lost_collector_costs_a_warning_and_no_call(log: CapturedLog) -> None:
    """However many batches it refuses; and it is said when it takes them again."""
    with span_collector() as collector:
        collector.refuses = True
        with spans_exported(SpanExport("probe", collector.url, pause_s=0.01)):
            async with (
                running_server([probe()], ServerSettings(), metrics=Metrics()) as server,
                open_channel(server.address, metrics=Metrics()) as channel,
            ):
                async with asyncio.timeout(30):
                    while len(log.named("spans are lost: the collector does not take them")) < 1:
                        assert await unary(channel)(b"x") == b"x"
                for _ in range(5):
                    assert await unary(channel)(b"x") == b"x"
                    await asyncio.sleep(0.02)
                collector.refuses = False
                async with asyncio.timeout(30):
                    while not log.named("the collector takes spans again"):
                        assert await unary(channel)(b"x") == b"x"
    assert len(log.named("spans are lost: the collector does not take them")) == 1
    assert collector.spans


async def test_nothing_is_made_while_no_endpoint_is_set() -> None:
    """No tracer, no span, no header, and what stands for a span is always the same object."""
    headers: list[set[str]] = []

    async def behave(request: bytes, context: Any) -> bytes:
        headers.append({key for key, _ in context.invocation_metadata()})
        return request

    with spans_exported(span_export("probe", ServerSettings(), {})):
        assert current_tracer() is None
        assert span("one") is span("another")
        with span("one") as nothing:
            assert nothing is None
            assert current_trace_id() == ""
        async with (
            running_server([probe({UNARY: behave})], ServerSettings(), metrics=Metrics()) as server,
            open_channel(server.address, metrics=Metrics()) as channel,
        ):
            await unary(channel)(b"")
    assert not headers[0] & {"traceparent", "tracestate"}


def test_no_process_loads_the_sdk_unless_it_exports() -> None:
    """The interface alone is loaded by what serves."""
    code = (
        "import sys, chassis.server, gateway.service, embedder_svc.service\n"
        "assert not [name for name in sys.modules if name.startswith(('opentelemetry.sdk', "
        "'opentelemetry.exporter'))]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_package_ends_the_start_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever asks for spans must not learn from an empty collector that there are none."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    wanted = SpanExport("probe", "http://collector:4318")
    with (
        pytest.raises(StartError, match=r"install justesse\[tracing\]"),
        spans_exported(wanted),
    ):
        raise AssertionError


def test_the_standard_variables_count_where_the_own_setting_is_silent() -> None:
    """The setting of the process goes first."""
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://all:4318", "OTEL_SERVICE_NAME": "mine"}
    own = ServerSettings(otlp_endpoint="http://own:4318", trace_ratio=0.25)
    assert span_export("gateway", ServerSettings(), environ) == SpanExport(
        "mine", "http://all:4318"
    )
    assert span_export("gateway", own, {}) == SpanExport(
        "justesse-gateway", "http://own:4318", 0.25
    )
