"""One exchange with a vendor, over a real socket."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from itertools import repeat
from typing import Any

import pytest
from pydantic import SecretStr

from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorLimited,
    VendorRefused,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
)
from chassis.vendor_http import VendorAnswer, VendorHttp, VendorHttpSettings
from tests.fakes.vendor import (
    FakeVendor,
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

NOW = 1_800_000_000.0
KEY = "sk-very-secret-0123456789"


@asynccontextmanager
async def connected(
    *reactions: Reaction, **limits: Any
) -> AsyncIterator[tuple[FakeVendor, VendorHttp]]:
    """Runs a vendor and a client of it."""
    async with fake_vendor(*reactions) as vendor:
        http = VendorHttp(
            "mistral",
            vendor.url + "/v1",
            secret_headers={"authorization": SecretStr(f"Bearer {KEY}")},
            settings=VendorHttpSettings(**limits),
            wall=lambda: NOW,
        )
        try:
            yield vendor, http
        finally:
            await http.close()


async def posted(*reactions: Reaction, seconds: float = 10.0, **limits: Any) -> VendorAnswer:
    """Posts once to a vendor that reacts like this."""
    async with connected(*reactions, **limits) as (_, http):
        return await http.exchange("POST", "/embeddings", b"{}", seconds)


async def failure(*reactions: Reaction, seconds: float = 10.0, **limits: Any) -> VendorError:
    """Returns how the exchange fails."""
    with pytest.raises(VendorError) as caught:
        await posted(*reactions, seconds=seconds, **limits)
    assert KEY not in f"{caught.value} {caught.value!r} {caught.value.excerpt}"
    return caught.value


async def test_a_json_answer_arrives_with_status_and_headers() -> None:
    """Path, body and headers go out; value, status and lower-case headers come back."""
    async with connected(reply({"data": [1.5]}, headers={"X-Remaining": "7"})) as (vendor, http):
        answer = await http.exchange("POST", "/embeddings", b'{"input": "x"}', 10.0)
    assert answer.value == {"data": [1.5]}
    assert (answer.status, answer.headers["x-remaining"]) == (200, "7")
    (received,) = vendor.received
    assert (received.method, received.path) == ("POST", "/v1/embeddings")
    assert received.body == b'{"input": "x"}'
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["accept-encoding"] == "gzip"


async def test_a_compressed_answer_is_decoded() -> None:
    """Vendors compress long lists of vectors."""
    answer = await posted(gzipped(b'{"a": [1, 2, 3]}'))
    assert answer.value == {"a": [1, 2, 3]}


async def test_connections_are_used_again() -> None:
    """A second call pays no second handshake."""
    async with connected(reply([])) as (vendor, http):
        for _ in range(3):
            await http.exchange("GET", "/models", None, 10.0)
        assert len(vendor.received) == 3
        assert vendor.open_connections == 1


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, VendorRefused, False),
        (401, VendorUnauthorized, False),
        (402, VendorRefused, False),
        (403, VendorUnauthorized, False),
        (404, VendorRefused, False),
        (408, VendorUnavailable, True),
        (409, VendorUnavailable, True),
        (413, VendorRefused, False),
        (422, VendorRefused, False),
        (429, VendorLimited, True),
        (500, VendorUnavailable, True),
        (502, VendorUnavailable, True),
        (503, VendorUnavailable, True),
        (504, VendorUnavailable, True),
    ],
)
async def test_each_status_has_its_error(
    status: int, kind: type[VendorError], retryable: bool
) -> None:
    """The error says vendor and status; what the vendor wrote is kept apart."""
    error = await failure(reply({"message": "no such model"}, status))
    assert type(error) is kind
    assert (error.status, error.retryable) == (status, retryable)
    assert f"(HTTP {status})" in str(error)
    assert "mistral" in str(error)
    assert "no such model" not in str(error)
    assert error.excerpt == '{"message": "no such model"}'


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        (formatdate(NOW + 12, usegmt=True), 12.0),
        ("1e9", 1e9),
        ("-5", None),
        ("tomorrow", None),
    ],
)
async def test_the_pause_asked_for_is_read(value: str, seconds: float | None) -> None:
    """In seconds or as a date; nonsense is ignored."""
    error = await failure(reply({}, 429, {"Retry-After": value}))
    assert error.retry_after_s == seconds


async def test_a_redirect_is_refused() -> None:
    """Keys and texts go nowhere but to the configured address."""
    async with (
        fake_vendor(reply([])) as elsewhere,
        connected(reply(None, 307, {"location": elsewhere.url})) as (vendor, http),
    ):
        with pytest.raises(VendorRefused, match="redirect") as caught:
            await http.exchange("POST", "/embeddings", b"{}", 10.0)
        assert caught.value.status == 307
        assert elsewhere.received == []
        assert len(vendor.received) == 1


async def test_a_key_that_the_vendor_repeats_is_masked() -> None:
    """Some vendors quote the key they refuse, some echo the header."""
    text = f"Incorrect API key provided: {KEY}.\nHeader was 'Bearer {KEY}'"
    error = await failure(reply({"error": text}, 401))
    assert "Incorrect API key provided: ***." in error.excerpt
    assert "Bearer ***" in error.excerpt


async def test_the_excerpt_is_short_and_on_one_line() -> None:
    """A page of HTML does not flood the log."""
    error = await failure(reply(raw=b"<html>\r\n\x1b[31m" + b"x" * 5000, status=502))
    assert len(error.excerpt) == 500
    assert "\n" not in error.excerpt


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
        # The vendor, in this process too, holds its own 50 ends; ours would be 50 more.
        assert vendor.open_connections >= 40
        assert len(os.listdir("/proc/self/fd")) <= before + 60


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
    async with connected(hang(), max_connections=1, pool_timeout_s=0.05) as (_, http):
        first = asyncio.ensure_future(http.exchange("GET", "/", None, 5.0))
        await asyncio.sleep(0.05)
        with pytest.raises(VendorError, match="connections are in use") as caught:
            await http.exchange("GET", "/", None, 5.0)
        assert type(caught.value) is VendorError
        assert not caught.value.retryable
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_proxy_in_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and texts go through a proxy only if a setting says so."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await posted(reply([1]))).value == [1]


async def test_a_proxy_of_the_settings_is_used() -> None:
    """Then every request goes there, with its full address."""
    async with fake_vendor(reply(["from the proxy"])) as proxy:
        http = VendorHttp(
            "mistral", "http://vendor.invalid", settings=VendorHttpSettings(proxy=proxy.url)
        )
        answer = await http.exchange("GET", "/models", None, 5.0)
        await http.close()
    assert answer.value == ["from the proxy"]
    assert proxy.received[0].path == "http://vendor.invalid/models"


def test_secrets_are_in_no_representation() -> None:
    """Neither repr nor the URL shows them."""
    http = VendorHttp("x", "https://x.example", secret_headers={"api-key": SecretStr(KEY)})
    assert repr(http) == "VendorHttp('x', 'https://x.example')"
    assert KEY not in str(vars(http))


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "x.example", "https://", "https://me:pw@x.example", ""]
)
def test_addresses_that_cannot_be_meant_are_refused(url: str) -> None:
    """Only http and https, and no password in the address."""
    with pytest.raises(ValueError, match="the address of mistral") as caught:
        VendorHttp("mistral", url)
    assert "pw" not in str(caught.value)
