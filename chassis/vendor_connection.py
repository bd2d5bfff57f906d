"""How a vendor is reached: address, key, limits of the account."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pydantic import SecretStr

from chassis import clock as clocks
from chassis.circuit_breaker import CircuitBreaker
from chassis.clock import Clock, Sleep
from chassis.patience import Patience
from chassis.rate_limiter import RateLimiter
from chassis.vendor_client import Judge, VendorClient
from chassis.vendor_http import VendorHttp, VendorHttpSettings


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, and how pauses are waited for and drawn."""

    clock: Clock = clocks.monotonic
    sleep: Sleep = clocks.sleep
    rng: random.Random | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """An account at a vendor.

    The limits per minute are those of the account, None for unlimited; `replicas` processes
    share them evenly. `private_hosts` may have addresses that are not public.
    """

    base_url: str
    key: SecretStr | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    replicas: int = 1
    private_hosts: tuple[str, ...] = ()

    def http(self, vendor: str, read_timeout_s: float = 20.0) -> VendorHttp:
        """Returns the connections to the vendor."""
        headers = {}
        if self.key is not None:
            headers["authorization"] = SecretStr(f"Bearer {self.key.get_secret_value()}")
        settings = VendorHttpSettings(
            read_timeout_s=read_timeout_s, private_hosts=self.private_hosts
        )
        return VendorHttp(vendor, self.base_url, secret_headers=headers, settings=settings)

    def client(
        self,
        http: VendorHttp,
        breaker: CircuitBreaker,
        timing: Timing,
        *,
        patience: Patience,
        judge: Judge,
    ) -> VendorClient:
        """Returns a client with one limiter for everybody in this process."""
        limiter = RateLimiter(
            requests_per_minute=self._share(self.requests_per_minute),
            tokens_per_minute=self._share(self.tokens_per_minute),
            clock=timing.clock,
            sleep=timing.sleep,
        )
        return VendorClient(
            http,
            patience=patience,
            breaker=breaker,
            limiter=limiter,
            judge=judge,
            clock=timing.clock,
            sleep=timing.sleep,
            rng=timing.rng,
        )

    def _share(self, per_minute: float | None) -> float | None:
        return None if per_minute is None else per_minute / self.replicas
