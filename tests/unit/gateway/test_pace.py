"""Who sends too slowly is told so, and holds nothing any longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from chassis.errors import DeadlineExceeded
from chassis.metrics import Metrics
from gateway.http.app import http_door
from gateway.pace import Pace, PacedWait, paced
from justesse.gateway.v1 import ingestion_pb2, ingestion_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from tests.fakes.gateway_services.grpc_door import grpc_door, refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

IMPATIENT = Pace(idle_s=0.2, bytes_per_s=0.0)
HEADER = ingestion_pb2.IngestionHeader(workspace="negoce", file_name="n.md")


class Sender:
    """Sends parts, each after so many seconds of a clock that is set by hand."""

    def __init__(self, parts: Sequence[bytes], pause_s: float) -> None:
        self.now = 0.0
        self._parts = parts
        self._pause_s = pause_s

    async def part(self, number: int) -> bytes:
        """Returns one part."""
        self.now += self._pause_s
        return self._parts[number]


async def stalled(*parts: bytes) -> AsyncIterator[bytes]:
    """Yields parts, and then nothing for ever."""
    for part in parts:
        yield part
    await asyncio.Event().wait()


async def test_a_sender_that_stops_is_given_up() -> None:
    """After the idle seconds, whatever came before."""
    parts = paced(stalled(b"a", b"bc"), len, IMPATIENT)
    received = [await anext(parts), await anext(parts)]
    with pytest.raises(DeadlineExceeded, match=r"no more came for 0\.2 s of the body, 3") as slow:
        await anext(parts)

    assert received == [b"a", b"bc"]
    assert slow.value.reason == "BODY_TOO_SLOW"


async def test_a_sender_that_dribbles_is_given_up() -> None:
    """A byte again and again is too little on the whole, once the first seconds are over."""
    sender = Sender([b"x"] * 10, pause_s=11.0)
    wait = PacedWait(Pace(idle_s=30.0, bytes_per_s=1.0), lambda: sender.now)

    # 30 s are free; after 44 s four bytes are less than one for each of the other seconds.
    for number in range(3):
        assert await wait.part(sender.part(number), len) == b"x"
    with pytest.raises(DeadlineExceeded, match="fewer than 1 bytes a second came"):
        await wait.part(sender.part(3), len)


async def test_what_is_done_with_the_parts_is_not_counted() -> None:
    """A busy gateway does not make its callers slow."""
    sender = Sender([b"x"] * 10, pause_s=0.0)
    wait = PacedWait(Pace(idle_s=30.0, bytes_per_s=1.0), lambda: sender.now)
    for number in range(10):
        assert await wait.part(sender.part(number), len) == b"x"
        sender.now += 1_000.0


@pytest.mark.parametrize("path", ["/v1/documents", "/v1/workspaces/negoce/jobs"])
async def test_a_stalled_request_is_answered_and_closed(mesh: MeshOfFakes, path: str) -> None:
    """408, and nothing is taken in."""
    mesh.pace = IMPATIENT
    begun = b'--b\r\nContent-Disposition: form-data; name="file"; filename="n.md"\r\n\r\nhal'
    transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as http:
        answer = await http.post(
            path,
            content=stalled(begun),
            headers={"content-type": "multipart/form-data; boundary=b"},
        )

    assert answer.status_code == 408
    assert answer.json()["error"]["reason"] == "BODY_TOO_SLOW"
    assert answer.headers["connection"] == "close"
    assert mesh.jobs.jobs == {}


async def test_a_stalled_stream_ends_with_words(mesh: MeshOfFakes) -> None:
    """DEADLINE_EXCEEDED for a file and for the files of a job."""
    mesh.pace = IMPATIENT

    async def file() -> AsyncIterator[ingestion_pb2.IngestDocumentRequest]:
        yield ingestion_pb2.IngestDocumentRequest(header=HEADER)
        async for part in stalled(b"half"):
            yield ingestion_pb2.IngestDocumentRequest(content=part)

    async def files() -> AsyncIterator[jobs_pb2.SubmitDocumentsRequest]:
        yield jobs_pb2.SubmitDocumentsRequest(header=HEADER)
        async for part in stalled(b"half"):
            yield jobs_pb2.SubmitDocumentsRequest(content=part)

    async with grpc_door(mesh) as channel:
        ingestion = ingestion_pb2_grpc.IngestionServiceStub(channel)
        jobs = jobs_pb2_grpc.JobServiceStub(channel)
        one = await refusal(ingestion.IngestDocument(file()))
        many = await refusal(jobs.SubmitDocuments(files()))

    for status, error in (one, many):
        assert (status, error.reason) == ("DEADLINE_EXCEEDED", "BODY_TOO_SLOW")
    assert mesh.jobs.jobs == {}
