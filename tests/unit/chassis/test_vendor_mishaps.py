"""One exchange with a vendor that is slow, cut off, hostile or not there."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
import zlib
from itertools import repeat

import pytest

from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorRefused,
    VendorTimeout,
    VendorUnavailable,
)
from chassis.vendor_http import VendorHttp
from tests.fakes.vendor import (
    Reaction,
    disconnect,
    endless_headers,
    fake_vendor,
    gzipped,
    hang,
    reply,
    trickle,
    truncated,
)
from tests.fakes.vendor_connection import connected, failure


async def test_a_vendor_that_never_answers_is_given_up_in_time() -> None:
    """The exchange has its own limit, whatever the sockets do."""
    error = await failure(hang(), seconds=0.1)
    assert isinstance(error, VendorTimeout)
    assert not error.retryable


async def test_a_vendor_that_trickles_is_given_up_in_time() -> None:
    """Each byte is in time, the answer is not."""
    error = await failure(trickle(repeat(b" "), 0.01), seconds=0.2, read_timeout_s=5)
    assert isinstance(error, VendorTimeout)


async def test_a_pause_within_an_answer_is_limited() -> None:
    """Long before the whole exchange runs out of time."""
    error = await failure(trickle([b"["], 30.0), seconds=30.0, read_timeout_s=0.1)
    assert isinstance(error, VendorTimeout)


async def test_hung_calls_leave_no_connections_behind() -> None:
    """Open files stay few after many time-outs."""
    async with connected(hang()) as (vendor, http):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            with pytest.raises(VendorTimeout):
                await http.exchange("POST", "/embeddings", b"{}", 0.01)
        # The vendor, in this process too, closes its ends when it sees ours closed.
        assert len(vendor.received) > 10
        assert len(os.listdir("/proc/self/fd")) <= before + 20


async def test_an_answer_given_up_frees_its_connection() -> None:
    """The only connection allowed is there again for the next call."""
    reactions = trickle(repeat(b" "), 0.01), reply("fine")
    async with connected(*reactions, max_connections=1, pool_timeout_s=2) as (_, http):
        with pytest.raises(VendorTimeout):
            await http.exchange("GET", "/", None, 0.1)
        assert (await http.exchange("GET", "/", None, 5.0)).value == "fine"


async def test_a_refused_body_frees_its_connection_too() -> None:
    """Also where we stopped reading halfway."""
    reactions = reply(raw=b" " * 10**6), reply("fine")
    limits = {"max_connections": 1, "pool_timeout_s": 2, "max_body_bytes": 1000}
    async with connected(*reactions, **limits) as (_, http):
        with pytest.raises(VendorGarbled):
            await http.exchange("GET", "/", None, 5.0)
        assert (await http.exchange("GET", "/", None, 5.0)).value == "fine"


@pytest.mark.parametrize(
    "reaction",
    [disconnect(), truncated(b'{"data": [1, 2', 100), reply(raw=b'{"data": [1, 2')],
    ids=["closed", "cut in transit", "cut before sending"],
)
async def test_a_lost_or_cut_answer_may_be_tried_again(reaction: Reaction) -> None:
    """The next one may be whole."""
    error = await failure(reaction)
    assert error.retryable
    assert isinstance(error, (VendorUnavailable, VendorGarbled))


async def test_a_cut_compressed_answer_may_be_tried_again() -> None:
    """The content length was right, the gzip stream was not complete."""
    error = await failure(gzipped(b'{"a": 1}', cut=5))
    assert isinstance(error, VendorGarbled)
    assert error.retryable


async def test_a_number_that_is_none_is_refused_for_good() -> None:
    """The same input gives the same NaN again."""
    error = await failure(reply(raw=b'{"embedding": [0.1, NaN]}'))
    assert isinstance(error, VendorGarbled)
    assert not error.retryable


async def test_a_body_above_the_cap_is_refused() -> None:
    """Plain or compressed, the decoded size counts."""
    for reaction in (reply(raw=b" " * 2000), gzipped(b" " * 2000)):
        error = await failure(reaction, max_body_bytes=1000)
        assert isinstance(error, VendorGarbled)
        assert "more than 1000 bytes" in str(error)
        assert not error.retryable


async def test_a_gzip_bomb_does_not_fill_the_memory() -> None:
    """256 MB in 256 kB: less than 32 MB are ever held."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(256)) + packer.flush()
    bomb = reply(raw=packed, headers={"content-encoding": "gzip"})
    tracemalloc.start()
    try:
        error = await failure(bomb, max_body_bytes=2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, VendorGarbled)
    assert peak < 32 * 2**20


async def test_an_error_with_a_huge_body_keeps_its_status() -> None:
    """The body is left out, the status counts."""
    error = await failure(reply(raw=b"x" * 200_000, status=404))
    assert isinstance(error, VendorRefused)
    assert (error.status, error.excerpt) == (404, "")


async def test_endless_headers_are_cut_off() -> None:
    """A head has its limit like a body."""
    error = await failure(endless_headers())
    assert isinstance(error, VendorUnavailable)


async def test_nobody_listening_is_unavailable() -> None:
    """Refused connections may be tried again."""
    async with fake_vendor(reply([])) as gone:
        url = gone.url
    http = VendorHttp("ollama", url)
    with pytest.raises(VendorUnavailable, match="ollama could not be reached") as caught:
        await http.exchange("GET", "/", None, 5.0)
    assert caught.value.retryable
    await http.close()


async def test_waiting_for_a_connection_is_no_fault_of_the_vendor() -> None:
    """All connections in use is our own limit: not retried, not held against the vendor."""
    async with connected(hang(), max_connections=1, pool_timeout_s=0.05) as (vendor, http):
        first = asyncio.ensure_future(http.exchange("GET", "/", None, 60.0))
        await vendor.reached.wait()
        with pytest.raises(VendorError, match="connections are in use") as caught:
            await http.exchange("GET", "/", None, 5.0)
        assert type(caught.value) is VendorError
        assert not caught.value.retryable
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
