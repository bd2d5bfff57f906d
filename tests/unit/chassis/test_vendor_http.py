"""One exchange with a vendor: what is sent, and what each status means."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from pydantic import SecretStr

from chassis.vendor_errors import (
    VendorError,
    VendorLimited,
    VendorRefused,
    VendorUnauthorized,
    VendorUnavailable,
)
from chassis.vendor_http import VendorHttp, VendorHttpSettings
from tests.fakes.vendor import (
    fake_vendor,
    gzipped,
    reply,
)
from tests.fakes.vendor_connection import KEY, NOW, connected, failure, posted


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
