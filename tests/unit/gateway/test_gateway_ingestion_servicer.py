"""Files that pass through the gateway on a real gRPC server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import grpc.aio
import pytest

from gateway.incoming_files import IncomingFile
from justesse.gateway.v1 import (
    ingestion_pb2,
    ingestion_pb2_grpc,
)
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


async def messages(
    *parts: ingestion_pb2.IngestDocumentRequest,
) -> AsyncIterator[ingestion_pb2.IngestDocumentRequest]:
    """Yields the messages of a stream."""
    for part in parts:
        yield part


def header(workspace: str = "negoce") -> ingestion_pb2.IngestDocumentRequest:
    """Returns the message that opens a file."""
    return ingestion_pb2.IngestDocumentRequest(
        header=ingestion_pb2.IngestionHeader(
            workspace=workspace, file_name="note.md", keywords=["un", "deux"]
        )
    )


def content(part: bytes) -> ingestion_pb2.IngestDocumentRequest:
    """Returns a message with bytes of a file."""
    return ingestion_pb2.IngestDocumentRequest(content=part)


async def test_a_file_is_passed_on_whole(channel: grpc.aio.Channel, mesh: MeshOfFakes) -> None:
    """Header and bytes reach the ingestion role, the report comes back."""
    stub = ingestion_pb2_grpc.IngestionServiceStub(channel)

    answer = await stub.IngestDocument(messages(header(), content(b"# Ti"), content(b"tre")))

    assert mesh.ingestion.taken == [
        (IncomingFile("negoce", "note.md", keywords=("un", "deux")), b"# Titre")
    ]
    assert answer.outcome == ingestion_pb2.INGESTION_OUTCOME_CREATED
    assert (answer.external_id, answer.passage_count) == ("note.md", 2)
    assert list(answer.warnings) == ["one remark"]


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((), "INVALID_ARGUMENT"),
        ((content(b"x"),), "INVALID_ARGUMENT"),
        ((header(), header()), "INVALID_ARGUMENT"),
        ((header(), ingestion_pb2.IngestDocumentRequest()), "INVALID_ARGUMENT"),
        ((header(""), content(b"x")), "INVALID_ARGUMENT"),
        ((header(), content(b"x" * 600_000), content(b"x" * 600_000)), "RESOURCE_EXHAUSTED"),
    ],
    ids=["empty", "no header", "two headers", "no part", "no workspace", "too large"],
)
async def test_a_wrong_stream_is_refused(
    channel: grpc.aio.Channel,
    mesh: MeshOfFakes,
    parts: tuple[ingestion_pb2.IngestDocumentRequest, ...],
    status: str,
) -> None:
    """Nothing is taken in, and the status says why."""
    stub = ingestion_pb2_grpc.IngestionServiceStub(channel)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.IngestDocument(messages(*parts))

    assert refused.value.code().name == status
    assert not mesh.ingestion.taken
