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

from chassis import clock as clocks
from chassis.clock import Clock

LOOKED_UP_EVERY_S = 30.0


class AddressNotAllowedError(Exception):
    """The provider's address is private and not listed; nothing was sent."""


class ProviderAddresses:
    """Remembers which hosts were allowed lately.

    `listed` are hosts, as in the provider's URL, that may have private or link-local addresses.
    """

    def __init__(self, listed: Collection[str] = (), clock: Clock = clocks.monotonic) -> None:
        self._listed = frozenset(host.strip().lower() for host in listed)
        self._clock = clock
        self._looked_up: dict[str, float] = {}

    async def require_allowed(self, host: str) -> None:
        """Raises AddressNotAllowedError for a host that requests must not be sent to."""
        host = host.lower()
        looked_up = self._looked_up.get(host)
        if looked_up is not None and self._clock() - looked_up < LOOKED_UP_EVERY_S:
            return
        if host not in self._listed and host != "localhost":
            for address in await _addresses_of(host):
                if not (address.is_global or (address.is_loopback and str(address) == host)):
                    raise AddressNotAllowedError(
                        f"{host} has the address {address}, which is not public; if it is meant, "
                        "list the host in PRIVATE_PROVIDERS"
                    )
        self._looked_up[host] = self._clock()


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
    return [ipaddress.ip_address(str(address[4][0]).partition("%")[0]) for address in found]
