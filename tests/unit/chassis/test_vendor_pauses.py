"""How long a vendor's client waits before it tries again."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from chassis.rate_limiter import RateLimited
from chassis.vendor_errors import (
    VendorLimited,
    VendorUnavailable,
)
from tests.fakes.vendor import reply
from tests.fakes.vendor_setup import NOW, set_up


async def test_pauses_are_jittered_below_a_doubling_bound() -> None:
    """Callers that failed together do not come back together."""
    pauses: list[list[float]] = [[], []]
    for _ in range(30):
        async with set_up(reply({}, 500), backoff_s=1.0) as setup:
            setup.client._rng.seed(len(pauses[0]))
            with pytest.raises(VendorUnavailable):
                await setup.call()
            for number, slept in enumerate(setup.clock.slept):
                pauses[number].append(slept)
    assert all(0 <= pause <= 1.0 for pause in pauses[0])
    assert all(0 <= pause <= 2.0 for pause in pauses[1])
    assert len(set(pauses[0])) > 20
    assert max(pauses[1]) > 1.0


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("2", 2.0, 2.5),
        (formatdate(NOW + 12, usegmt=True), 12.0, 12.5),
        (formatdate(NOW - 12, usegmt=True), 0.0, 0.5),
        ("1e9", 30.0, 30.0),
        ("-3", 0.0, 0.5),
        ("next week", 0.0, 0.5),
    ],
)
async def test_a_429_is_obeyed(value: str, least: float, most: float) -> None:
    """Seconds and dates up to thirty seconds; nonsense falls back to the ordinary pause."""
    limited = reply({}, 429, {"retry-after": value})
    async with set_up(limited, reply("fine"), total_timeout_s=100.0) as setup:
        assert await setup.call() == "fine"
        assert least <= sum(setup.clock.slept) <= most
        assert setup.attempts == 2


async def test_a_429_that_asks_for_more_than_the_deadline_fails_at_once() -> None:
    """The caller falls back while there is time; nothing sleeps past a deadline."""
    async with set_up(reply({}, 429, {"retry-after": "20"})) as setup:
        with pytest.raises(VendorLimited) as caught:
            await setup.call(timeout_s=5.0)
        assert caught.value.retry_after_s == 20.0
        assert setup.clock.slept == []
        assert setup.attempts == 1


async def test_a_429_holds_for_everybody_who_shares_the_limiter() -> None:
    """The next call does not even try while the pause lasts."""
    async with set_up(reply({}, 429, {"retry-after": "20"})) as setup:
        with pytest.raises(VendorLimited):
            await setup.call(timeout_s=5.0)
        for _ in range(3):
            with pytest.raises(RateLimited) as caught:
                await setup.call(timeout_s=5.0)
            assert caught.value.retry_after_s == pytest.approx(20.0)
        assert setup.attempts == 1


async def test_no_pause_goes_beyond_the_deadline() -> None:
    """A retry that could not begin in time is not waited for."""
    async with set_up(reply({}, 500), backoff_s=50.0, max_backoff_s=50.0) as setup:
        with pytest.raises(VendorUnavailable):
            await setup.call(timeout_s=0.5)
        assert setup.clock.slept == []
