"""The ingestion role over sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chassis.channel import open_channel
from chassis.errors import InvalidArgument, ResourceExhausted, Unavailable
from chassis.metrics import Metrics
from gateway.clients.ingestion import MESSAGE_BYTES, IngestionClient
from gateway.incoming_files import IncomingFile, IngestionOutcome
from justesse.gateway.v1 import ingestion_pb2
from tests.fakes.gateway_services.downstream import downstream

INGEST = "justesse.gateway.v1.IngestionService.IngestDocument"
FILE = IncomingFile("negoce", "note.md", title="Une note")
CREATED = ingestion_pb2.IngestDocumentResponse(
    outcome=ingestion_pb2.INGESTION_OUTCOME_CREATED, external_id="note.md", passage_count=3
)


async def parts(*chunks: bytes) -> AsyncIterator[bytes]:
    """Yields the bytes of a file."""
    for chunk in chunks:
        yield chunk


async def test_a_file_is_sent_header_first_in_bounded_messages() -> None:
    """A chunk of any size becomes messages of at most 1 MiB, in order."""
    content = bytes(range(256)) * 9000
    async with downstream({INGEST: lambda _: CREATED}) as role:
        report = await IngestionClient(role.channel).ingest_document(
            FILE, parts(content[:10], b"", content[10:])
        )

    (messages,) = role.seen
    bodies = [message.content for message in messages[1:]]
    assert messages[0].header.file_name == "note.md"
    assert b"".join(bodies) == content
    assert max(map(len, bodies)) == MESSAGE_BYTES
    assert (report.outcome, report.passage_count) == (IngestionOutcome.CREATED, 3)


async def test_an_error_of_the_content_ends_the_call_and_is_raised() -> None:
    """A file found too large while it is read is told so, and is not a cancelled call."""

    async def growing() -> AsyncIterator[bytes]:
        yield b"x"
        raise ResourceExhausted("the file is over the limit", reason="FILE_TOO_LARGE")

    async with downstream({INGEST: lambda _: CREATED}) as role:
        with pytest.raises(ResourceExhausted, match="over the limit"):
            await IngestionClient(role.channel).ingest_document(FILE, growing())

    assert role.seen == []


def refuse(_: Any) -> Any:
    """Refuses every file."""
    raise InvalidArgument("note.md has an unsupported type", reason="UNSUPPORTED_TYPE")


async def test_a_refusal_before_the_end_of_the_file_is_heard() -> None:
    """The role may refuse after the header; the rest of the file is not needed to know why."""
    asked = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield b"x" * MESSAGE_BYTES
            await asyncio.sleep(0)

    async with downstream({INGEST: refuse}, reads_streams=False) as role:
        with pytest.raises(InvalidArgument, match="unsupported") as refused:
            await IngestionClient(role.channel).ingest_document(FILE, endless())

    assert refused.value.reason == "UNSUPPORTED_TYPE"
    assert asked < 200


async def test_content_is_asked_for_no_faster_than_it_is_taken() -> None:
    """While the role reads nothing, the file is not read into memory."""
    asked = 0
    taking = asyncio.Event()

    async def large() -> AsyncIterator[bytes]:
        nonlocal asked
        for _ in range(64):
            asked += 1
            yield b"x" * MESSAGE_BYTES

    async def late(_: Any) -> Any:
        await taking.wait()
        raise InvalidArgument("enough", reason="ENOUGH")

    async with downstream({INGEST: late}, reads_streams=False) as role:
        call = asyncio.create_task(IngestionClient(role.channel).ingest_document(FILE, large()))
        before = -1
        while asked != before:
            before = asked
            await asyncio.sleep(0.05)
        taking.set()
        with pytest.raises(InvalidArgument, match="enough"):
            await call

    assert before < 32


async def test_a_lost_role_is_named_plainly() -> None:
    """The message says which part is lost."""
    async with downstream({INGEST: lambda _: CREATED}) as role:
        address = role.address
    async with open_channel(address, metrics=Metrics()) as channel:
        with pytest.raises(Unavailable) as lost:
            await IngestionClient(channel).ingest_document(FILE, parts(b"x"), timeout=5.0)

    assert str(lost.value) == "the ingestion role cannot be reached"
