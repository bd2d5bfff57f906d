"""Exchanges with a scripted vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from chassis.vendor_errors import VendorError
from chassis.vendor_http import VendorAnswer, VendorHttp, VendorHttpSettings
from tests.fakes.vendor import FakeVendor, Reaction, fake_vendor

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
