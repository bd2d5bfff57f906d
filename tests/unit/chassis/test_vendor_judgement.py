"""What a client makes of a vendor's answers and errors beyond their status."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.patience import Patience
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import (
    VendorError,
    VendorRefused,
    VendorTimeout,
    VendorUnusable,
)
from chassis.vendor_http import VendorAnswer, VendorHttp
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import fake_vendor, hang, reply


def permanent(error: VendorError) -> VendorError:
    """Takes a quota that is used up for a refusal."""
    if "insufficient_quota" in error.excerpt:
        return VendorRefused(error.vendor, "has no quota left for us", status=error.status)
    return error


def value_of(answer: VendorAnswer) -> Any:
    """Returns the answer's value unless it tells of an error."""
    if "error" in answer.value:
        raise VendorUnusable("mistral", "answered with an error under status 200")
    return answer.value


async def test_a_judged_error_is_treated_as_what_it_is() -> None:
    """A status that is tried again elsewhere is final here."""
    async with fake_vendor(reply({"code": "insufficient_quota"}, 429)) as vendor:
        async with VendorClient(VendorHttp("mistral", vendor.url), judge=permanent) as client:
            with pytest.raises(VendorRefused, match="no quota"):
                await client.post_json("/embeddings", {})
        assert len(vendor.received) == 1


async def test_an_unusable_answer_counts_as_an_outage() -> None:
    """What the reader refuses opens the breaker and is not tried again."""
    breaker = CircuitBreaker("mistral", threshold=2)
    async with fake_vendor(reply({"fine": 1}), reply({"error": "no"})) as vendor:
        async with VendorClient(VendorHttp("mistral", vendor.url), breaker=breaker) as client:
            assert await client.post_read("/embeddings", {}, value_of) == {"fine": 1}
            for _ in range(2):
                with pytest.raises(VendorUnusable):
                    await client.post_read("/embeddings", {}, value_of)
        assert len(vendor.received) == 3
    assert breaker.state is BreakerState.OPEN


@pytest.mark.parametrize(("fair_s", "opens"), [(0.0, True), (5.0, False)])
async def test_a_hurried_caller_proves_no_outage(fair_s: float, opens: bool) -> None:
    """A time-out counts only where the attempt had a fair time."""
    breaker = CircuitBreaker("mistral", threshold=1)
    patience = Patience(fair_timeout_s=fair_s)
    async with (
        fake_vendor(hang()) as vendor,
        VendorClient(
            VendorHttp("mistral", vendor.url), patience=patience, breaker=breaker
        ) as client,
    ):
        with pytest.raises(VendorTimeout):
            await client.post_json("/embeddings", {}, timeout_s=0.05)
    assert (breaker.state is BreakerState.OPEN) is opens


def test_a_neutral_outcome_frees_the_probe_and_counts_for_nothing() -> None:
    """A probe that proved nothing leaves its place to the next."""
    clock = FakeClock()
    breaker = CircuitBreaker("mistral", threshold=1, open_s=10.0, clock=clock)
    breaker.refuse_if_open()
    breaker.trip()
    with pytest.raises(CircuitOpen):
        breaker.refuse_if_open()
    clock.now += 10.0

    hurried_probe(breaker)

    assert breaker.state.value == "half_open"
    with breaker.attempt():
        pass
    assert breaker.state.value == "closed"


def hurried_probe(breaker: CircuitBreaker) -> None:
    """Runs out of time while nobody else may call."""
    with suppress(TimeoutError), breaker.attempt(lambda _: None):
        with pytest.raises(CircuitOpen):
            breaker.refuse_if_open()
        raise TimeoutError
