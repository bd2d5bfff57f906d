"""Reads Server-Sent Events out of lines (WHATWG HTML, 9.2): the data of each event.

More lenient than the standard in one thing: an event at the very end counts without the blank line
that should follow it, since several servers leave it out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


async def event_data(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields the data of each event that has some; comments and other fields are left out."""
    data: list[bytes] = []
    first = True
    async for line in lines:
        if first:
            line, first = line.removeprefix(_BYTE_ORDER_MARK), False
        if not line:
            if data:
                yield b"\n".join(data)
                data = []
            continue
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
    if data:
        yield b"\n".join(data)
