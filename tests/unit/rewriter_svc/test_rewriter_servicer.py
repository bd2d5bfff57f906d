"""The rewriter over a socket, in this process and in its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument
from chassis.metrics import Metrics
from justesse.rewriter.v1 import rewriter_pb2 as pb
from justesse.rewriter.v1 import rewriter_pb2_grpc
from rewriter_svc.service import running_rewriter
from rewriter_svc.settings import RewriterSettings
from tests.fakes.service_process import ServiceProcess

if TYPE_CHECKING:
    # Exists for the type checker only.
    from justesse.rewriter.v1.rewriter_pb2_grpc import RewriterServiceAsyncStub as Stub


@pytest_asyncio.fixture
async def stub() -> AsyncIterator[Stub]:
    """A client of a rewriter that runs in this process on a free port."""
    settings = RewriterSettings(port=0, drain_grace_s=0.0)
    async with (
        running_rewriter(settings, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield rewriter_pb2_grpc.RewriterServiceStub(channel)


async def test_the_original_query_is_answered_with_its_reason(stub: Stub) -> None:
    """Without a chat model the query comes back whole and the report says so."""
    answer = await stub.RewriteQuery(
        pb.RewriteQueryRequest(workspace="acme", query="Combien de conteneurs ?", language="fr")
    )

    assert answer.query == answer.standalone_question == "Combien de conteneurs ?"
    assert answer.origin == pb.REWRITE_ORIGIN_ORIGINAL
    assert answer.report.outcome == pb.STAGE_OUTCOME_SKIPPED
    assert answer.report.reason == "NOT_CONFIGURED"
    assert answer.report.latency_ms >= 0.0
    assert answer.unchanged_for_s == 10.0


async def test_a_short_query_is_answered_with_its_reason(stub: Stub) -> None:
    """A query under six characters is too short to rewrite."""
    answer = await stub.RewriteQuery(pb.RewriteQueryRequest(query="TVA"))

    assert (answer.query, answer.report.reason) == ("TVA", "TOO_SHORT")
    assert not answer.HasField("unchanged_for_s")


async def test_a_blank_query_is_an_invalid_argument(stub: Stub) -> None:
    """The caller learns which field is wrong and what to do."""
    with pytest.raises(grpc.RpcError) as failure:
        await stub.RewriteQuery(pb.RewriteQueryRequest(query=" "))

    error = service_error_from(failure.value)
    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == ["query"]
    assert "give the words to search for" in error.message


def test_limits_are_settings() -> None:
    """What the settings say is what requests are checked against."""
    settings = RewriterSettings(max_query_bytes=10, max_history_turns=2, max_history_bytes=30)

    limits = settings.request_limits()

    assert (limits.query_bytes, limits.history_turns, limits.history_bytes) == (10, 2, 30)


@pytest.mark.mesh
def test_the_process_answers_and_ends_well_on_sigterm() -> None:
    """`python -m rewriter_svc` serves over its socket and exits with 0 when told to stop."""
    with ServiceProcess("rewriter_svc", "JUSTESSE_REWRITER_") as process:
        with grpc.insecure_channel(process.address) as channel:
            stub = rewriter_pb2_grpc.RewriterServiceStub(channel)
            answer = stub.RewriteQuery(pb.RewriteQueryRequest(query="bonjour"), timeout=10)

        assert answer.query == "bonjour"
        assert process.terminate() == 0
