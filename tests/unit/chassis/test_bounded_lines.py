"""Lines of a stream, however it was cut into chunks."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.bounded_lines import LineTooLong, bounded_lines


async def lines_of(chunks: Sequence[bytes], cap: int = 1000) -> list[bytes]:
    """Reads all lines."""

    async def arriving() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [line async for line in bounded_lines(arriving(), cap)]


def cut_at(text: bytes, places: Sequence[int]) -> list[bytes]:
    """Cuts a text at these places."""
    inside = sorted({place % (len(text) + 1) for place in places})
    borders = [0, *inside, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(borders)]


@given(
    st.lists(st.sampled_from(["a", "é", "\n", "\r", "\r\n", "x" * 30, "日本"]), max_size=30),
    st.lists(st.integers(0, 10**6), max_size=10),
)
async def test_lines_do_not_depend_on_chunks(words: list[str], places: list[int]) -> None:
    """Every cut, also inside a character or a CRLF, gives the lines of the whole."""
    text = "".join(words).encode()

    assert await lines_of(cut_at(text, places)) == text.splitlines()


@pytest.mark.parametrize("chunks", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"ok\n", b"x" * 11]])
async def test_a_line_beyond_the_cap_is_refused(chunks: list[bytes]) -> None:
    """Whether it has an end or not, and without waiting for it."""
    with pytest.raises(LineTooLong):
        await lines_of(chunks, cap=10)


async def test_a_line_of_exactly_the_cap_passes() -> None:
    """Its end is not counted."""
    assert await lines_of([b"x" * 10 + b"\r\n", b"y"], cap=10) == [b"x" * 10, b"y"]
