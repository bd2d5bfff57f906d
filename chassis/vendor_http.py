"""HTTP exchanges with a vendor, whole or line by line; the only module that knows the HTTP library.

Redirects are refused, proxies of the environment ignored, bodies bounded after decoding. Secret
headers are added to each request and appear in no text of ours. What goes wrong is a VendorError.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from chassis import clock as clocks
from chassis.bounded_body import BadEncoding, BodyTooLarge, IncompleteBody, read_bounded
from chassis.bounded_lines import LineTooLong, bounded_lines
from chassis.clock import Clock
from chassis.deadline import Deadline
from chassis.provider_addresses import AddressNotAllowedError, ProviderAddresses
from chassis.retry_after import retry_after_s
from chassis.strict_json import NonFiniteNumber, NotJson, parsed_json
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorLimited,
    VendorRefused,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
)

_EXCERPT_CHARACTERS = 500
_ERROR_BODY_BYTES = 64 * 1024
# Parts of a secret header that are no secret, such as "Bearer", are shorter.
_SHORTEST_SECRET = 7


class VendorHttpSettings(BaseModel):
    """Limits of one vendor's connections; times in seconds. `proxy` is a URL, none by default."""

    model_config = ConfigDict(frozen=True)

    connect_timeout_s: float = Field(default=5.0, gt=0)
    read_timeout_s: float = Field(default=20.0, gt=0, description="between two pieces of a body")
    pool_timeout_s: float = Field(default=5.0, gt=0, description="until a connection is free")
    max_body_bytes: int = Field(default=32 * 2**20, gt=0, description="decoded")
    max_line_bytes: int = Field(default=2**20, gt=0, description="of an answer in lines")
    max_connections: int = Field(default=20, gt=0)
    proxy: str | None = None
    private_hosts: tuple[str, ...] = Field(
        default=(), description="hosts that may have private or link-local addresses"
    )


@dataclass(frozen=True, slots=True)
class VendorAnswer:
    """A successful answer: the parsed JSON, the status, and the headers in lower case."""

    value: Any
    status: int
    headers: Mapping[str, str]


class VendorHttp:
    """The connections to one vendor. Bound to the event loop of its first exchange."""

    def __init__(
        self,
        vendor: str,
        base_url: str,
        *,
        secret_headers: Mapping[str, SecretStr] | None = None,
        settings: VendorHttpSettings | None = None,
        wall: Clock = clocks.wall,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address of {vendor} must be an http or https URL")
        if parts.username is not None or parts.password is not None:
            raise ValueError(f"the address of {vendor} must hold no password: use secret_headers")
        self.vendor = vendor
        self._base_url = base_url.rstrip("/")
        self._secrets = dict(secret_headers or {})
        self._settings = settings or VendorHttpSettings()
        self._wall = wall
        self.host = parts.hostname
        self._addresses = ProviderAddresses(self._settings.private_hosts)
        self._client = _http_client(self._settings)

    def __repr__(self) -> str:
        return f"VendorHttp({self.vendor!r}, {self._base_url!r})"

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    async def exchange(
        self, method: str, path: str, body: bytes | None, seconds: float
    ) -> VendorAnswer:
        """Sends a JSON body (or none) and returns the answer, all within that many seconds."""
        with self._told_when_unreachable():
            async with asyncio.timeout(seconds):
                await self._addresses.require_allowed(self.host)
                response = await self._client.send(self._request(method, path, body), stream=True)
                try:
                    raw = await self._body(response)
                finally:
                    await response.aclose()
        if not response.is_success:
            raise self._refusal(response, raw)
        return VendorAnswer(self._value(raw), response.status_code, dict(response.headers))

    @asynccontextmanager
    async def lines(
        self, path: str, body: bytes, *, opening_s: float, idle_s: float, deadline: Deadline
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Posts a JSON body and gives the lines of the answer as they come, without their ends.

        The answer has to begin within `opening_s` seconds, must not be silent for `idle_s`, and
        must end before the deadline. Leaving early, or being cancelled, closes the connection.
        """
        with self._told_when_unreachable():
            async with asyncio.timeout(opening_s):
                await self._addresses.require_allowed(self.host)
                request = self._request("POST", path, body, "text/event-stream, application/json")
                response = await self._client.send(request, stream=True)
        try:
            if not response.is_success:
                with self._told_when_unreachable():
                    async with asyncio.timeout(opening_s):
                        raw = await self._body(response)
                raise self._refusal(response, raw)
            yield self._lines(response, idle_s, deadline)
        finally:
            await response.aclose()

    async def _lines(
        self, response: httpx.Response, idle_s: float, deadline: Deadline
    ) -> AsyncIterator[bytes]:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity"):
            raise VendorGarbled(self.vendor, f"sent lines in the encoding {encoding!r}")
        pieces = self._pieces(response, idle_s, deadline)
        try:
            async for line in bounded_lines(pieces, self._settings.max_line_bytes):
                yield line
        except LineTooLong as error:
            raise VendorGarbled(self.vendor, f"sent a line of {error}") from error

    async def _pieces(
        self, response: httpx.Response, idle_s: float, deadline: Deadline
    ) -> AsyncIterator[bytes]:
        size = 0
        arriving = response.aiter_raw()
        while True:
            with self._told_when_unreachable():
                async with asyncio.timeout(min(idle_s, deadline.remaining())):
                    piece = await anext(arriving, None)
            if piece is None:
                return
            size += len(piece)
            if size > self._settings.max_body_bytes:
                told = f"sent lines of more than {self._settings.max_body_bytes} bytes in all"
                raise VendorGarbled(self.vendor, told)
            yield piece

    @contextmanager
    def _told_when_unreachable(self) -> Iterator[None]:
        try:
            yield
        except (TimeoutError, httpx.TimeoutException, httpx.TransportError) as error:
            raise self._unreachable(error) from error
        except AddressNotAllowedError as error:
            raise VendorUnavailable(self.vendor, str(error), retryable=False) from error

    def _request(
        self, method: str, path: str, body: bytes | None, lines_as: str = ""
    ) -> httpx.Request:
        # Compressed lines would be held back by whoever compresses them.
        headers = {
            "accept": lines_as or "application/json",
            "accept-encoding": "identity" if lines_as else "gzip",
        }
        if body is not None:
            headers["content-type"] = "application/json"
        headers |= {name: secret.get_secret_value() for name, secret in self._secrets.items()}
        return self._client.build_request(
            method, self._base_url + path, content=body, headers=headers
        )

    async def _body(self, response: httpx.Response) -> bytes:
        cap = self._settings.max_body_bytes if response.is_success else _ERROR_BODY_BYTES
        encoding = response.headers.get("content-encoding", "").strip().lower()
        try:
            return await read_bounded(response.aiter_raw(), encoding, cap)
        except (BadEncoding, BodyTooLarge) as error:
            if not response.is_success:
                return b""  # the status says enough
            raise VendorGarbled(
                self.vendor,
                f"sent an answer that cannot be read: {error}",
                retryable=isinstance(error, IncompleteBody),
            ) from error

    def _value(self, raw: bytes) -> Any:
        try:
            return parsed_json(raw)
        except (NotJson, NonFiniteNumber) as error:
            # A number that is none comes from the input; a cut text may be whole the next time.
            raise VendorGarbled(
                self.vendor,
                f"sent an answer that is not JSON: {error}",
                excerpt=self._excerpt(raw),
                retryable=isinstance(error, NotJson),
            ) from error

    def _refusal(self, response: httpx.Response, raw: bytes) -> VendorError:
        status = response.status_code
        kind: type[VendorError] = VendorRefused
        what, retryable = "refused the request", False
        if status == 429:
            kind, what, retryable = VendorLimited, "asks for fewer requests", True
        elif status in (408, 409) or status >= 500:
            kind, what, retryable = VendorUnavailable, "cannot answer now", True
        elif status in (401, 403):
            kind, what = VendorUnauthorized, "does not accept the key"
        elif 300 <= status < 400:
            what = "answered with a redirect, which is not followed"
        return kind(
            self.vendor,
            what,
            status=status,
            excerpt=self._excerpt(raw),
            retry_after_s=retry_after_s(response.headers, self._wall) if retryable else None,
            retryable=retryable,
        )

    def _unreachable(self, error: Exception) -> VendorError:
        name = type(error).__name__
        if isinstance(error, httpx.PoolTimeout):
            return VendorError(self.vendor, "was not called: all its connections are in use")
        late = isinstance(error, (TimeoutError, httpx.TimeoutException))
        if late and not isinstance(error, httpx.ConnectTimeout):
            return VendorTimeout(self.vendor, f"did not answer in time ({name})")
        return VendorUnavailable(
            self.vendor, f"could not be reached ({name})", excerpt=str(error), retryable=True
        )

    def _excerpt(self, raw: bytes) -> str:
        text = " ".join(raw.decode("utf-8", "replace").split())
        for secret in self._secrets.values():
            for part in secret.get_secret_value().split():
                if len(part) >= _SHORTEST_SECRET:
                    text = text.replace(part, "***")
        return text[:_EXCERPT_CHARACTERS]


def _http_client(settings: VendorHttpSettings) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        timeout=httpx.Timeout(
            connect=settings.connect_timeout_s,
            read=settings.read_timeout_s,
            write=settings.read_timeout_s,
            pool=settings.pool_timeout_s,
        ),
        limits=httpx.Limits(
            max_connections=settings.max_connections,
            max_keepalive_connections=settings.max_connections,
            keepalive_expiry=30.0,
        ),
        follow_redirects=False,
        trust_env=False,
        proxy=settings.proxy,
    )
