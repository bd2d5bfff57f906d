"""Server-Sent Events, as written by servers of all kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chassis.bounded_lines import bounded_lines
from chat_models.server_sent_events import event_data


async def data_of(text: str) -> list[str]:
    """Reads the data of all events."""

    async def arriving() -> AsyncIterator[bytes]:
        yield text.encode()

    return [data.decode() async for data in event_data(bounded_lines(arriving(), 1000))]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data:a\n\n", ["a"]),
        ("data:  a\n\n", [" a"]),
        ("data: a\ndata: b\n\n", ["a\nb"]),
        (": keep-alive\n\n: PROCESSING\n\ndata: a\n\n", ["a"]),
        ("event: message\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("\ufeffdata: a\n\n", ["a"]),
        ("data: a", ["a"]),
        ("data\n\n", [""]),
        ("\n\n\n", []),
    ],
)
async def test_data_of_events(text: str, data: list[str]) -> None:
    """Comments, other fields and empty events are left out; the last blank line may be missing."""
    assert await data_of(text) == data
