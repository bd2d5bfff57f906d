"""Cuts a stream of bytes into lines of bounded length."""

from __future__ import annotations

from collections.abc import AsyncIterator


class LineTooLong(Exception):  # noqa: N818 - says what the line is
    """A line exceeds its cap."""


async def bounded_lines(chunks: AsyncIterator[bytes], cap: int) -> AsyncIterator[bytes]:
    """Yields the lines without their ends (LF, CRLF or CR), as soon as each is whole.

    A last line without an end is yielded too. Never holds more than `cap` bytes and one chunk;
    raises LineTooLong for a longer line. Since lines are cut at ASCII bytes only, a character
    whose bytes came in two chunks is whole again in its line.
    """
    pending = bytearray()
    after_cr = False
    async for chunk in chunks:
        # The LF of a CRLF whose CR ended the chunk before.
        piece = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = chunk.endswith(b"\r")
        for part in piece.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            if len(pending) + len(line) > cap:
                raise LineTooLong(f"more than {cap} bytes")
            pending += line
            if len(line) < len(part):
                yield bytes(pending)
                pending.clear()
    if pending:
        yield bytes(pending)
