"""Which addresses a provider may have: public ones, this machine, and what the operator listed.

A wrong or forged address must not make a service ask the cloud's metadata or a neighbour. The name
is resolved before a connection is needed, at most every 30 s, so that a name which changes its
mind is found out. This is no guard against a name that changes between the look and the connection.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection

import httpx

from chassis import clock as clocks
from chassis.clock import Clock

LOOKED_UP_EVERY_S = 30.0


class AddressNotAllowed(httpx.TransportError):
    """The provider's address is private and not listed; nothing was sent."""


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests by another transport, once their host is known to be allowed.

    `listed` are hosts, as in the provider's URL, that may have private or link-local addresses.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        listed: Collection[str] = (),
        clock: Clock = clocks.monotonic,
    ) -> None:
        self._transport = transport
        self._listed = frozenset(host.strip().lower() for host in listed)
        self._clock = clock
        self._looked_up: dict[str, float] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request; raises AddressNotAllowed."""
        host = request.url.host.lower()
        looked_up = self._looked_up.get(host)
        if looked_up is None or self._clock() - looked_up >= LOOKED_UP_EVERY_S:
            await self._require_allowed(host)
            self._looked_up[host] = self._clock()
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Closes the other transport."""
        await self._transport.aclose()

    async def _require_allowed(self, host: str) -> None:
        if host in self._listed or host == "localhost":
            return
        for address in await _addresses_of(host):
            if not (address.is_global or (address.is_loopback and str(address) == host)):
                raise AddressNotAllowed(
                    f"{host} has the address {address}, which is not public; if it is meant, list "
                    "the host in PRIVATE_PROVIDERS"
                )


async def _addresses_of(
    host: str,
) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        # The connection will fail, and is told in its own words.
        return []
    return [ipaddress.ip_address(address[4][0].partition("%")[0]) for address in found]
