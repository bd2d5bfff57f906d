"""Archives byte by byte: what was written is read, and what was altered is refused in words."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.errors import FailedPrecondition, InvalidArgument, ServiceError
from gateway.archives import frames
from gateway.archives.facts import WorkspaceFacts, facts_from_json, facts_to_json
from gateway.archives.frames import ArchiveReader, ArchiveWriter, Frame, FrameKind
from gateway.glossary.entry import GlossaryEntry
from tests.fakes.gateway_services.transfers import archive_of


async def read(parts: list[bytes]) -> list[Frame]:
    """Returns the frames of an archive that comes in these parts."""

    async def content() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    reader = ArchiveReader(content())
    await reader.read_head()
    return [frame async for frame in reader.frames()]


async def refused(archive: bytes) -> ServiceError:
    """Returns why an archive is not read."""
    with pytest.raises(ServiceError) as caught:
        await read([archive])
    return caught.value


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=400) | st.just(b"mot " * 900)), st.integers(1, 50))
async def test_what_was_written_is_read(payloads: list[bytes], size: int) -> None:
    """However it is cut on its way."""
    whole = b"".join(archive_of(payloads))
    parts = [whole[start : start + size] for start in range(0, len(whole), size)]

    assert [frame.payload for frame in await read(parts)][1:] == payloads


def test_texts_become_smaller_and_vectors_do_not_grow() -> None:
    """What packing does not make smaller, or makes so small that no reader would believe it, is
    kept as it is."""
    writer = ArchiveWriter()
    text = " ".join(f"mot{number}" for number in range(500)).encode()
    noise = Random(1).randbytes(5_000)

    assert len(writer.frame(FrameKind.RECORD, text)) < len(text) / 2
    assert len(writer.frame(FrameKind.RECORD, noise)) == len(noise) + 10
    assert len(writer.frame(FrameKind.RECORD, bytes(1_000_000))) == 1_000_010


async def test_every_flipped_bit_is_noticed() -> None:
    """In whatever byte of the archive."""
    whole = b"".join(archive_of())
    for place in range(len(whole)):
        altered = bytearray(whole)
        altered[place] ^= 1 << (place % 8)

        assert isinstance(await refused(bytes(altered)), InvalidArgument | FailedPrecondition)


async def test_an_archive_that_is_cut_off_anywhere_is_noticed() -> None:
    """It says after how many bytes."""
    whole = b"".join(archive_of())
    for length in range(len(whole)):
        error = await refused(whole[:length])

        assert error.reason == "ARCHIVE_DAMAGED"
        assert f"cut off after {length} bytes" in str(error)


async def test_frames_in_another_order_are_noticed() -> None:
    """Exchanged, left out or repeated."""
    head, facts, first, second, third, end = archive_of([b"one", b"two", b"three"])
    for forged in (
        [head, facts, second, first, third, end],
        [head, facts, first, third, end],
        [head, facts, first, first, second, third, end],
        [head, first, facts, second, third, end],
        [head, end],
    ):
        error = await refused(b"".join(forged))
        assert error.reason == "ARCHIVE_DAMAGED"


async def test_the_end_of_another_archive_is_no_end() -> None:
    """Though every frame is sound by itself: one was exchanged for one of equal number."""
    head, facts, one, end = archive_of([b"one"])
    other, other_end = archive_of([b"two"])[2:]
    for forged in ([head, facts, other, end], [head, facts, one, other_end]):
        assert "another checksum" in str(await refused(b"".join(forged)))


async def test_what_follows_the_end_is_refused() -> None:
    """An archive is one."""
    assert "more bytes follow" in str(await refused(b"".join([*archive_of(), b"x"])))


@pytest.mark.parametrize("content", [b"PK\x03\x04" + bytes(60), b'{"error": "no"}', bytes(100)])
async def test_other_files_are_told_from_archives(content: bytes) -> None:
    """It says that this is none."""
    assert (await refused(content)).reason == "NO_ARCHIVE"


async def test_a_newer_layout_is_refused_with_both_versions() -> None:
    """It says which build can read it."""
    head, *rest = archive_of()
    error = await refused(b"".join([head[:8], (2).to_bytes(4, "little"), *rest]))

    assert error.reason == "ARCHIVE_TOO_NEW"
    assert "version 2" in str(error)


async def test_huge_lengths_are_refused_before_anything_is_read() -> None:
    """Memory is not asked for on the word of a file."""
    head = ArchiveWriter().head()
    error = await refused(head + bytes([1, 0]) + b"\xff\xff\xff\xff" + bytes(4))

    assert "4294967295 bytes, too many" in str(error)


async def test_a_bomb_is_not_unpacked() -> None:
    """What grows beyond the ratio, or what a frame may hold, is refused."""
    writer = ArchiveWriter()
    head = writer.head()
    for size in (1_000_000, 64_000_000):
        packed = zlib.compress(bytes(size), 9)
        crc = frames._crc(0, FrameKind.RECORD, 1, packed)
        error = await refused(head + frames._FRAME.pack(1, 1, len(packed), crc) + packed)

        assert "unpacks to over" in str(error)


def test_facts_are_read_as_they_were_written() -> None:
    """Glossary and overrides."""
    facts = WorkspaceFacts((GlossaryEntry("BL", ("bon de livraison",)),), {"rag_x": "false"})

    assert facts_from_json(facts_to_json(facts)) == facts


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"glossary": [], "switch_overrides": []}',
        b'{"glossary": [{"term": 1, "synonyms": []}], "switch_overrides": {}}',
        b'{"glossary": [{"term": "a", "synonyms": "b"}], "switch_overrides": {}}',
        b'{"glossary": [], "switch_overrides": {"a": 1}}',
    ],
)
def test_facts_that_are_none_are_refused(data: bytes) -> None:
    """Typed, whatever shape they have."""
    with pytest.raises(InvalidArgument) as caught:
        facts_from_json(data)

    assert caught.value.reason == "ARCHIVE_DAMAGED"
