"""Providers have public addresses, or ones that the operator listed; nothing is sent elsewhere."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from chassis.deadline import Deadline
from chassis.provider_addresses import (
    LOOKED_UP_EVERY_S,
    AddressNotAllowedError,
    ProviderAddresses,
)
from chassis.vendor_errors import VendorUnavailable
from chassis.vendor_http import VendorHttp
from tests.fakes.clock import FakeClock

NAMES = {
    "public.test": ["93.184.216.34"],
    "metadata.test": ["169.254.169.254"],
    "mixed.test": ["93.184.216.34", "10.0.0.7"],
    "here.test": ["127.0.0.1"],
    "vllm": ["10.1.2.3"],
}


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names are looked up in the table above; returns those that were."""
    looked_up: list[str] = []

    async def getaddrinfo(_loop: object, host: str, *_: Any, **__: Any) -> list[Any]:
        looked_up.append(host)
        if host not in NAMES:
            raise socket.gaierror("unknown")
        return [(0, 0, 0, "", (address, 0)) for address in NAMES[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return looked_up


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("public.test", True),
        ("unknown.test", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("93.184.216.34", True),
        ("vllm", False),
        ("metadata.test", False),
        ("mixed.test", False),
        ("here.test", False),
        ("169.254.169.254", False),
        ("10.0.0.1", False),
        ("192.168.1.5", False),
        ("fe80::1", False),
        ("fd00:ec2::254", False),
        ("::ffff:169.254.169.254", False),
        ("0.0.0.0", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::5db8:d822", True),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b::7f00:1", False),
        ("2002:a9fe:a9fe::1", False),
        ("::169.254.169.254", False),
        ("224.0.0.1", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
    ],
)
async def test_private_addresses_are_not_allowed(
    lookups: list[str], host: str, allowed: bool
) -> None:
    """Whether written out or behind a name; this machine is allowed by its own names only."""
    addresses = ProviderAddresses()
    if allowed:
        await addresses.require_allowed(host)
    else:
        with pytest.raises(AddressNotAllowedError, match="PRIVATE_PROVIDERS"):
            await addresses.require_allowed(host)


async def test_listed_hosts_are_allowed_by_the_name_in_the_url(lookups: list[str]) -> None:
    """Another name of the same address is not."""
    addresses = ProviderAddresses(["VLLM", "192.168.1.5"])
    for host in ("vllm", "vLLM", "192.168.1.5"):
        await addresses.require_allowed(host)
    with pytest.raises(AddressNotAllowedError):
        await addresses.require_allowed("10.1.2.3")
    assert lookups == []


async def test_a_name_that_changes_its_mind_is_found_out(
    lookups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up again every half minute, not for every request."""
    clock = FakeClock()
    addresses = ProviderAddresses(clock=clock)
    for _ in range(3):
        await addresses.require_allowed("public.test")
    assert lookups == ["public.test"]
    monkeypatch.setitem(NAMES, "public.test", ["169.254.169.254"])
    clock.now += LOOKED_UP_EVERY_S
    with pytest.raises(AddressNotAllowedError):
        await addresses.require_allowed("public.test")


async def test_a_name_without_an_address_is_looked_up_again(
    lookups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: the next answer may be a private address."""
    addresses = ProviderAddresses(clock=FakeClock())
    await addresses.require_allowed("late.test")
    monkeypatch.setitem(NAMES, "late.test", ["169.254.169.254"])
    with pytest.raises(AddressNotAllowedError):
        await addresses.require_allowed("late.test")


async def test_a_vendor_at_a_private_address_is_unavailable_and_says_why() -> None:
    """Through the connections that services use, whole or in lines; nothing is tried again."""
    http = VendorHttp("ollama", "http://169.254.169.254")
    with pytest.raises(VendorUnavailable, match=r"169\.254\.169\.254") as told:
        await http.exchange("GET", "/api/tags", None, 5.0)
    with pytest.raises(VendorUnavailable, match="PRIVATE_PROVIDERS"):
        async with http.lines("/x", b"{}", opening_s=5, idle_s=5, deadline=Deadline.after(5)):
            pass
    await http.close()

    assert not told.value.retryable
