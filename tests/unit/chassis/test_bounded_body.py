"""Bodies of unknown size."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.bounded_body import BadEncoding, BodyTooLarge, IncompleteBody, read_bounded


async def stream(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yields the chunks."""
    for chunk in chunks:
        yield chunk


def cut(data: bytes, size: int) -> list[bytes]:
    """Returns the data in chunks."""
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.binary(max_size=2000), st.integers(1, 300), st.sampled_from(["", "identity", "gzip"]))
def test_a_body_within_the_cap_arrives_whole(data: bytes, size: int, encoding: str) -> None:
    """However it is cut and whether or not it is compressed."""
    raw = gzip.compress(data) if encoding == "gzip" else data
    body = asyncio.run(read_bounded(stream(cut(raw, size)), encoding, len(data)))
    assert body == data


@given(st.binary(min_size=1, max_size=2000), st.integers(1, 300), st.sampled_from(["", "gzip"]))
def test_one_byte_above_the_cap_is_too_much(data: bytes, size: int, encoding: str) -> None:
    """The cap counts decoded bytes."""
    raw = gzip.compress(data) if encoding == "gzip" else data
    with pytest.raises(BodyTooLarge):
        asyncio.run(read_bounded(stream(cut(raw, size)), encoding, len(data) - 1))


async def test_a_gzip_bomb_takes_no_memory() -> None:
    """Sixty-four megabytes of zeros in one chunk is stopped at the cap."""
    bomb = gzip.compress(bytes(64 * 2**20), compresslevel=9)
    tracemalloc.start()
    with pytest.raises(BodyTooLarge):
        await read_bounded(stream([bomb]), "gzip", 2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20


async def test_an_endless_body_is_cut_off() -> None:
    """It is not read further than the cap."""
    given_out = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given_out
        while True:
            given_out += 1
            yield bytes(1000)

    with pytest.raises(BodyTooLarge):
        await read_bounded(endless(), "", 10_000)
    assert given_out == 11


async def test_a_cut_gzip_stream_is_incomplete() -> None:
    """Part of an answer is no answer."""
    raw = gzip.compress(b"x" * 1000)
    with pytest.raises(IncompleteBody):
        await read_bounded(stream([raw[:-4]]), "gzip", 5000)


@pytest.mark.parametrize(
    ("chunks", "encoding"),
    [
        ([b"not gzip at all"], "gzip"),
        ([gzip.compress(b"a") + b"more"], "gzip"),
        ([gzip.compress(b"a"), b"more"], "gzip"),
        ([b"x"], "br"),
        ([b"x"], "gzip, gzip"),
    ],
)
async def test_bodies_that_are_not_as_declared_are_refused(
    chunks: list[bytes], encoding: str
) -> None:
    """Garbage, trailing data and encodings that nobody asked for."""
    with pytest.raises(BadEncoding):
        await read_bounded(stream(chunks), encoding, 5000)
