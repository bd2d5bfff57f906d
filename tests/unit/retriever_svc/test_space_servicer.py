"""The service that moves passages between spaces, over a real socket."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc.aio
import numpy as np
import pytest

from chassis.error_mapping import service_error_from
from chassis.errors import FailedPrecondition, InvalidArgument, ServiceError
from justesse.retriever.v1 import documents_pb2, spaces_pb2, workspaces_pb2
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.retriever_client import SPACE, RetrieverClient

OTHER = "test/other@1/3/l2/none"


@pytest.fixture
async def retriever(tmp_path: Path) -> AsyncIterator[RetrieverClient]:
    """A running retriever with one document of two passages in `docs`."""
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data")
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        retriever = RetrieverClient(channel)
        await retriever.workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )
        await retriever.put("a", ["l'eau douce", "le feu"], [[1, 0, 0], [0, 1, 0]])
        yield retriever


def bytes_of(*values: float) -> bytes:
    """Returns float32 values, little-endian."""
    return np.array(values, "<f4").tobytes()


def put_request(listed: spaces_pb2.ListPassagesAwaitingResponse, **fields: Any) -> Any:
    """Returns a request that brings a vector for each listed passage."""
    given = {
        "workspace": "docs",
        "passages": [
            spaces_pb2.PassageKey(
                passage_id=one.passage_id, embedded_text_hash=one.passage.embedded_text_hash
            )
            for one in listed.passages
        ],
        "vectors": documents_pb2.VectorBlock(
            space_id=OTHER,
            dimension=3,
            vectors=bytes_of(0, 0, 1) * len(listed.passages),
            canary_vector=bytes_of(0, 2, 0),
        ),
        **fields,
    }
    return spaces_pb2.PutVectorsRequest(**given)


async def error_of(call: Any) -> ServiceError:
    """Returns the error a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return service_error_from(caught.value)


async def test_a_workspace_moves_to_another_space_and_back(retriever: RetrieverClient) -> None:
    """Lease, list, put, switch, switch back and drop, each with all of its fields."""
    spaces = retriever.spaces
    lease = await spaces.LeaseSpace(
        spaces_pb2.LeaseSpaceRequest(
            workspace="docs", space_id=OTHER, holder="mover", duration_s=30
        )
    )
    asked = spaces_pb2.ListPassagesAwaitingRequest(workspace="docs", space_id=OTHER, page_size=1)
    first = await spaces.ListPassagesAwaiting(asked)
    asked.page_token = first.next_page_token
    last = await spaces.ListPassagesAwaiting(asked)
    put = [
        await spaces.PutVectors(put_request(page, lease_holder="mover")) for page in (first, last)
    ]
    switched = await spaces.SwitchSpace(
        spaces_pb2.SwitchSpaceRequest(workspace="docs", space_id=OTHER, require_complete=True)
    )
    described = await retriever.workspaces.DescribeWorkspace(
        workspaces_pb2.DescribeWorkspaceRequest(slug="docs")
    )
    dropped = await spaces.DropSpace(spaces_pb2.DropSpaceRequest(workspace="docs", space_id=SPACE))

    assert (lease.granted, lease.remaining_s) == (True, 30)
    assert (first.awaiting_passage_count, last.awaiting_passage_count) == (2, 0)
    assert [page.passages[0].passage.text for page in (first, last)] == ["l'eau douce", "le feu"]
    assert (list(first.passages[0].space_ids), last.next_page_token) == ([SPACE], "")
    assert [answer.stored_count for answer in put] == [1, 1]
    assert (switched.previous_space_id, switched.awaiting_passage_count) == (SPACE, 0)
    old, new = described.workspace.spaces
    assert (old.resting, new.resting, old.stray_passage_count) == (True, False, 0)
    assert (old.HasField("canary_vector"), new.canary_vector) == (False, bytes_of(0, 1, 0))
    assert (dropped.vector_count, dropped.spaces_version) == (2, switched.spaces_version + 1)


async def test_windows_follow_their_vectors(retriever: RetrieverClient) -> None:
    """Listed while they are awaited, then stored, each with all of its fields."""
    asked = spaces_pb2.ListPassagesAwaitingRequest(workspace="docs", space_id=SPACE, windows=True)
    listed = await retriever.spaces.ListPassagesAwaiting(asked)
    put = spaces_pb2.PutWindowsRequest(
        workspace="docs",
        space_id=SPACE,
        passages=put_request(listed).passages,
        window_counts=[2, 0],
        dimension=3,
        window_vectors=bytes_of(0, 1, 0, 0, 0, 1),
    )
    stored = await retriever.spaces.PutWindows(put)
    answer = await retriever.find("eau", [0, 0, 2])
    rest = await retriever.spaces.ListPassagesAwaiting(asked)
    put.window_counts[:] = [1, -1]
    error = await error_of(retriever.spaces.PutWindows(put))

    assert [one.passage.text for one in listed.passages] == ["l'eau douce", "le feu"]
    assert (stored.stored_count, stored.outdated_count) == (2, 0)
    assert answer.applied_seq == stored.seq
    scores = {hit.passage.text: hit.space_scores[0] for hit in answer.hits}
    assert scores["l'eau douce"].best_window_cosine == 1
    assert not scores["le feu"].HasField("best_window_cosine")
    assert (len(rest.passages), rest.awaiting_passage_count) == (0, 0)
    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == ["window_counts[1]"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"passages": []}, "passages"),
        ({"passages": [spaces_pb2.PassageKey(passage_id="x")] * 2}, "passages[0].passage_id"),
        ({"vectors": documents_pb2.VectorBlock(dimension=3)}, "vectors.space_id"),
        (
            {
                "vectors": documents_pb2.VectorBlock(
                    space_id=OTHER,
                    dimension=3,
                    vectors=bytes_of(1, 0, 0),
                    passage_positions=[1],
                )
            },
            "vectors.passage_positions",
        ),
    ],
)
async def test_wrong_vectors_are_refused_by_field(
    retriever: RetrieverClient, fields: dict[str, Any], field: str
) -> None:
    """Nothing is stored, and the message names what is wrong."""
    listed = await retriever.spaces.ListPassagesAwaiting(
        spaces_pb2.ListPassagesAwaitingRequest(workspace="docs", space_id=OTHER)
    )
    error = await error_of(retriever.spaces.PutVectors(put_request(listed, **fields)))

    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == [field]


@pytest.mark.parametrize(
    "request_",
    [
        spaces_pb2.LeaseSpaceRequest(workspace="docs", space_id=OTHER, duration_s=1),
        spaces_pb2.LeaseSpaceRequest(workspace="docs", space_id=OTHER, holder="m", duration_s=601),
        spaces_pb2.LeaseSpaceRequest(workspace="docs", holder="m", duration_s=1),
    ],
)
async def test_wrong_leases_are_refused(
    retriever: RetrieverClient, request_: spaces_pb2.LeaseSpaceRequest
) -> None:
    """Without a holder or a space, or for too long."""
    assert isinstance(await error_of(retriever.spaces.LeaseSpace(request_)), InvalidArgument)


async def test_a_page_token_of_somebody_else_is_refused(retriever: RetrieverClient) -> None:
    """One that lists documents is none of ours, however well-formed."""
    for token in ("?", "YWZ0ZXI6YQ=="):
        asked = spaces_pb2.ListPassagesAwaitingRequest(
            workspace="docs", space_id=OTHER, page_token=token
        )
        assert isinstance(
            await error_of(retriever.spaces.ListPassagesAwaiting(asked)), InvalidArgument
        )


async def test_leases_end_with_the_process(tmp_path: Path) -> None:
    """After a restart vectors are refused until the space is leased anew."""
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data")
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        retriever = RetrieverClient(channel)
        await retriever.workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )
        await retriever.put("a", ["eau"])
        lease = spaces_pb2.LeaseSpaceRequest(
            workspace="docs", space_id=OTHER, holder="mover", duration_s=60
        )
        await retriever.spaces.LeaseSpace(lease)
    async with (
        running_retriever(settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        retriever = RetrieverClient(channel)
        listed = await retriever.spaces.ListPassagesAwaiting(
            spaces_pb2.ListPassagesAwaitingRequest(workspace="docs", space_id=OTHER)
        )
        put = put_request(listed, lease_holder="mover")
        refused = await error_of(retriever.spaces.PutVectors(put))
        await retriever.spaces.LeaseSpace(lease)
        taken = await retriever.spaces.PutVectors(put)

    assert isinstance(refused, FailedPrecondition)
    assert taken.stored_count == 1
