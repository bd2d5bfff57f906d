"""The rewriter's process sends its spans where the standard variable says."""

from __future__ import annotations

import grpc
import pytest

from justesse.rewriter.v1 import rewriter_pb2, rewriter_pb2_grpc
from tests.fakes.service_process import ServiceProcess
from tests.fakes.span_collector import span_collector


@pytest.mark.mesh
def test_a_process_sends_what_it_has_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its own name, with nothing lost by SIGTERM."""
    with span_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        with ServiceProcess("rewriter_svc", "JUSTESSE_REWRITER_") as process:
            with grpc.insecure_channel(process.address) as channel:
                stub = rewriter_pb2_grpc.RewriterServiceStub(channel)
                stub.RewriteQuery(
                    rewriter_pb2.RewriteQueryRequest(query="le fioul", workspace="w"),
                    timeout=30,
                    wait_for_ready=True,
                )
            assert process.terminate() == 0
        assert len(collector.named("justesse.rewriter.v1.RewriterService/RewriteQuery")) == 1
        assert collector.services == {"justesse-rewriter"}
