"""Sends the spans of a process to a collector by OTLP over HTTP, in the background.

The SDK is loaded only where an endpoint is configured. A queue of QUEUE_SPANS spans waits for the
collector; while it is lost, requests go on as ever and spans beyond the queue are dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from chassis.binding import EXIT_CONFIG, StartError
from chassis.server_settings import ServerSettings
from chassis.tracing.spans import traced_by

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVICE_VARIABLE = "OTEL_SERVICE_NAME"
QUEUE_SPANS = 2048
_BATCH_SPANS = 512
_EXPORT_SECONDS = 3.0

_log = structlog.get_logger("chassis.tracing")


@dataclass(frozen=True, slots=True)
class SpanExport:
    """Where the spans of a process go.

    `endpoint` is the base URL of the collector; `ratio` of the traces that begin here are
    recorded (0 to 1), and of others those that their callers record. `pause_s` passes between two
    batches.
    """

    service: str
    endpoint: str
    ratio: float = 1.0
    pause_s: float = 2.0


def span_export(
    service: str, settings: ServerSettings, environ: Mapping[str, str]
) -> SpanExport | None:
    """Returns what settings or, failing that, the standard variables ask for; None for nothing."""
    endpoint = settings.otlp_endpoint or environ.get(ENDPOINT_VARIABLE, "")
    if not endpoint:
        return None
    name = environ.get(SERVICE_VARIABLE, "") or f"justesse-{service}"
    return SpanExport(name, endpoint, settings.trace_ratio)


@contextmanager
def spans_exported(wanted: SpanExport | None) -> Iterator[None]:
    """Makes and exports spans while inside; what still waits is sent at the end.

    Raises StartError where the packages of the extra `tracing` are missing.
    """
    if wanted is None:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio
    except ImportError as error:
        raise StartError(
            f"spans cannot be sent to {wanted.endpoint}, as a package is missing ({error.name}): "
            "install justesse[tracing], or set no OTLP endpoint",
            exit_code=EXIT_CONFIG,
        ) from None
    # It repeats itself for every batch; what it has to say is told by _Watched, once.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter = OTLPSpanExporter(wanted.endpoint.rstrip("/") + "/v1/traces", timeout=_EXPORT_SECONDS)
    provider = TracerProvider(
        sampler=ParentBasedTraceIdRatio(wanted.ratio),
        resource=Resource.create({"service.name": wanted.service}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(
        BatchSpanProcessor(
            _watched(exporter, wanted.endpoint),
            max_queue_size=QUEUE_SPANS,
            max_export_batch_size=_BATCH_SPANS,
            schedule_delay_millis=wanted.pause_s * 1e3,
        )
    )
    try:
        with traced_by(provider.get_tracer("justesse")):
            yield
    finally:
        provider.shutdown()


def _watched(exporter: SpanExporter, endpoint: str) -> SpanExporter:
    """Returns the exporter with a log line when the collector is lost, and one when it is back."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Watched(SpanExporter):
        def __init__(self) -> None:
            self._lost = False

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            result = exporter.export(spans)
            lost = result is not SpanExportResult.SUCCESS
            if lost and not self._lost:
                _log.warning("spans are lost: the collector does not take them", endpoint=endpoint)
            elif self._lost and not lost:
                _log.info("the collector takes spans again", endpoint=endpoint)
            self._lost = lost
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

    return Watched()
