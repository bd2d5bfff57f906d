"""Answers that come line by line: bounded in time and size, and stopped when nobody reads on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.patience import Patience
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
    VendorUnusable,
)
from tests.fakes.vendor import FakeVendor, Reaction, chunked, disconnect, hang, reply, trickle
from tests.fakes.vendor_connection import KEY, connected

QUICK = Patience(attempts=2, backoff_s=0.001)


@asynccontextmanager
async def client_of(
    *reactions: Reaction, threshold: int = 5, **limits: int
) -> AsyncIterator[tuple[FakeVendor, VendorClient]]:
    """Runs a vendor and a client of it."""
    async with connected(*reactions, **limits) as (vendor, http):
        breaker = CircuitBreaker("mistral", threshold=threshold)
        yield vendor, VendorClient(http, patience=QUICK, breaker=breaker)


async def read(client: VendorClient, *, idle_s: float = 10.0, timeout_s: float = 10.0) -> list[str]:
    """Reads an answer to its end."""
    async with client.post_lines("/chat", {}, idle_s=idle_s, timeout_s=timeout_s) as lines:
        return [line.decode() async for line in lines]


async def test_lines_arrive_whole() -> None:
    """Chunks may end anywhere, also inside a character; an empty line is a line."""
    text = "data: été\r\n\ndata: 日本".encode()
    async with client_of(chunked(*(bytes([byte]) for byte in text))) as (vendor, client):
        assert await read(client) == ["data: été", "", "data: 日本"]

        headers = vendor.received[0].headers
        assert headers["accept-encoding"] == "identity"
        assert headers["authorization"] == f"Bearer {KEY}"


async def test_the_first_line_is_there_before_the_last_is_sent() -> None:
    """What has come is handed on at once."""
    async with (
        client_of(chunked(b"one\n", ending="silent")) as (_, client),
        client.post_lines("/chat", {}, idle_s=10.0) as lines,
    ):
        assert await anext(aiter(lines)) == b"one"


@pytest.mark.parametrize(
    "reaction",
    [hang(), chunked(ending="silent"), chunked(b"one\n", b"two", ending="silent")],
    ids=["no answer", "no line", "half a line"],
)
async def test_silence_ends_the_answer(reaction: Reaction) -> None:
    """Before the first byte or between two."""
    async with client_of(reaction) as (vendor, client):
        with pytest.raises(VendorTimeout):
            await read(client, idle_s=0.05)
        await vendor.left()


async def test_dribbled_bytes_do_not_outlive_the_deadline() -> None:
    """Each byte comes in time, the answer never ends."""
    async with client_of(trickle([b"x"] * 1000, 0.01)) as (_, client):
        with pytest.raises(VendorTimeout):
            await read(client, idle_s=5.0, timeout_s=0.1)


@pytest.mark.parametrize(
    ("reaction", "told"),
    [
        (chunked(b"x" * 600), "line of more than 500 bytes"),
        (chunked(*[b"x" * 400 + b"\n"] * 6), "more than 2000 bytes in all"),
        (chunked(b"x", headers={"content-encoding": "gzip"}), "encoding 'gzip'"),
    ],
    ids=["line", "all", "encoding"],
)
async def test_answers_are_bounded(reaction: Reaction, told: str) -> None:
    """One line, all lines together, and nothing that would have to be unpacked."""
    async with client_of(reaction, max_line_bytes=500, max_body_bytes=2000) as (_, client):
        with pytest.raises(VendorGarbled, match=told):
            await read(client)


@pytest.mark.parametrize("first", [reply({}, 503), disconnect()], ids=["busy", "closed"])
async def test_a_failure_before_the_answer_is_tried_again(first: Reaction) -> None:
    """Nobody has seen anything of it."""
    async with client_of(first, chunked(b"fine\n")) as (vendor, client):
        assert await read(client) == ["fine"]
        assert len(vendor.received) == 2


async def test_a_lost_connection_amid_the_answer_is_final() -> None:
    """What has been read cannot be taken back, so nothing is tried again."""
    async with client_of(chunked(b"one\n", ending="cut")) as (vendor, client):
        with pytest.raises(VendorUnavailable):
            await read(client)
        assert len(vendor.received) == 1


async def test_a_refused_key_opens_the_breaker() -> None:
    """As for whole answers."""
    async with client_of(reply({}, 401)) as (vendor, client):
        with pytest.raises(VendorUnauthorized):
            await read(client)
        with pytest.raises(CircuitOpen):
            await read(client)
        assert len(vendor.received) == 1


async def test_what_the_reader_finds_unusable_counts_against_the_vendor() -> None:
    """An error inside a good stream is an outage; a bug of the reader is not."""

    async def reading(error: Exception) -> None:
        async with client.post_lines("/chat", {}, idle_s=10.0) as lines:
            async for _ in lines:
                raise error

    async with client_of(chunked(b"one\n"), threshold=1) as (_, client):
        for error, state in (
            (KeyError("bug"), BreakerState.CLOSED),
            (VendorUnusable("mistral", "broke off"), BreakerState.OPEN),
        ):
            with pytest.raises(type(error)):
                await reading(error)
            assert client.breaker.state is state


async def test_whoever_leaves_early_closes_the_connection() -> None:
    """The vendor need not write what nobody reads."""
    async with client_of(chunked(b"one\n", ending="silent")) as (vendor, client):
        async with client.post_lines("/chat", {}, idle_s=10.0) as lines:
            await anext(aiter(lines))
            assert vendor.open_connections == 1
        await vendor.left()


@pytest.mark.parametrize("reaction", [hang(), chunked(b"one\n", ending="silent")])
async def test_a_cancelled_reader_closes_the_connection(reaction: Reaction) -> None:
    """Before the first line or after it; the breaker takes it for neither good nor bad."""

    async def give_up(reading: Callable[[], Awaitable[object]]) -> None:
        task = asyncio.ensure_future(reading())
        await vendor.reached.wait()
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async with client_of(reaction, threshold=1) as (vendor, client):
        await give_up(lambda: read(client))
        await vendor.left()
        assert client.breaker.state is BreakerState.CLOSED


async def test_errors_of_streams_hold_no_key() -> None:
    """As those of whole answers."""
    async with client_of(reply({"echo": f"Bearer {KEY}"}, 400)) as (_, client):
        with pytest.raises(VendorError) as caught:
            await read(client)
        assert KEY not in f"{caught.value} {caught.value!r} {caught.value.excerpt}"
