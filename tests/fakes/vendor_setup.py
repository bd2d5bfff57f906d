"""A vendor's client in made-up time, with the vendor it talks to."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from chassis.patience import Patience
from chassis.rate_limiter import RateLimiter
from chassis.retry_budget import RetryBudget
from chassis.vendor_client import VendorClient
from chassis.vendor_http import VendorHttp
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import FakeVendor, Reaction, fake_vendor

NOW = 1_800_000_000.0


class Setup:
    """A client in made-up time and the vendor it talks to."""

    def __init__(self, vendor: FakeVendor, threshold: int, **patience: Any) -> None:
        self.vendor = vendor
        self.clock = FakeClock(auto=True)
        self.breaker = CircuitBreaker("mistral", threshold=threshold, clock=self.clock)
        self.limiter = RateLimiter(clock=self.clock, sleep=self.clock.sleep)
        self.budget = RetryBudget()
        self.client = VendorClient(
            VendorHttp(
                "mistral",
                vendor.url,
                secret_headers={"authorization": SecretStr("Bearer sk-123456789")},
                wall=lambda: NOW,
            ),
            patience=Patience(**patience),
            breaker=self.breaker,
            limiter=self.limiter,
            budget=self.budget,
            clock=self.clock,
            sleep=self.clock.sleep,
            rng=random.Random(7),
        )

    @property
    def attempts(self) -> int:
        return len(self.vendor.received)

    async def call(self, **options: Any) -> Any:
        return (await self.client.post_json("/embeddings", {"input": ["x"]}, **options)).value


@asynccontextmanager
async def set_up(*reactions: Reaction, threshold: int = 5, **patience: Any) -> AsyncIterator[Setup]:
    """Starts the vendor and its client."""
    async with fake_vendor(*reactions) as vendor:
        setup = Setup(vendor, threshold, **patience)
        async with setup.client:
            yield setup
