"""A collector that takes spans by OTLP over HTTP, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF = "application/x-protobuf"


@dataclass
class SpanCollector:
    """Where it listens, what arrived, and whether it takes any."""

    url: str = ""
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    refuses: bool = False

    @property
    def spans(self) -> list[Span]:
        """All spans that arrived."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[str]:
        """The names of the processes that sent some."""
        return {
            attribute.value.string_value
            for request in self.requests
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }

    def named(self, name: str) -> list[Span]:
        """The spans of a name, in the order in which they began."""
        found = [span for span in self.spans if span.name == name]
        return sorted(found, key=lambda span: span.start_time_unix_nano)

    def only(self, name: str) -> Span:
        """The one span of a name."""
        (span,) = self.named(name)
        return span


def attributes_of(span: Span) -> dict[str, str | int]:
    """Returns the attributes that are texts and whole numbers."""
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


@contextmanager
def span_collector() -> Iterator[SpanCollector]:
    """Serves while inside."""
    collector = SpanCollector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if collector.refuses or self.headers["content-type"] != PROTOBUF:
                self.send_error(400)
                return
            collector.paths.append(self.path)
            collector.requests.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("content-type", PROTOBUF)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: object) -> None:
            """Is silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        collector.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
