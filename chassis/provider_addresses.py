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

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "192.0.0.192")))
"""Addresses outside of the private ranges at which clouds tell machines about themselves."""

_IPV4_INSIDE = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96")))
"""IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052), IPv4-compatible."""


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
            addresses = await _addresses_of(host)
            if not addresses:
                # The connection will fail, and is told in its own words. Not remembered: the name
                # may have an address the next time.
                return
            for address in addresses:
                if not (_is_public(address) or (address.is_loopback and str(address) == host)):
                    raise AddressNotAllowedError(
                        f"{host} has the address {address}, which is not public; if it is meant, "
                        "list the host in PRIVATE_PROVIDERS"
                    )
        self._looked_up[host] = self._clock()


def _is_public(address: _Address) -> bool:
    inner = _ipv4_inside(address)
    if inner is not None:
        return _is_public(inner)
    return address.is_global and not address.is_multicast and address not in _METADATA


def _ipv4_inside(address: _Address) -> ipaddress.IPv4Address | None:
    """Returns where packets to an IPv6 address end that stands for an IPv4 one."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if any(address in network for network in _IPV4_INSIDE):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


async def _addresses_of(host: str) -> list[_Address]:
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [ipaddress.ip_address(str(address[4][0]).partition("%")[0]) for address in found]
