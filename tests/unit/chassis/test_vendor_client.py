"""A vendor's client: retries, pauses, breaker, budget and deadlines."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.utils import formatdate
from typing import Any

import pytest
from pydantic import SecretStr

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.deadline import narrowed_deadline
from chassis.errors import DeadlineExceeded
from chassis.rate_limiter import RateLimited, RateLimiter
from chassis.retry_budget import RetryBudget
from chassis.vendor_client import Patience, VendorClient
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorLimited,
    VendorRefused,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
)
from chassis.vendor_http import VendorHttp
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import FakeVendor, Reaction, disconnect, fake_vendor, hang, reply

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


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
async def test_passing_failures_are_tried_three_times(status: int) -> None:
    """The third attempt succeeds and nobody notices."""
    async with set_up(reply({}, status), reply({}, status), reply("fine")) as setup:
        assert await setup.call() == "fine"
        assert setup.attempts == 3


async def test_the_third_failure_is_final() -> None:
    """And is shown as it was."""
    async with set_up(reply({"message": "busy"}, 503)) as setup:
        with pytest.raises(VendorUnavailable) as caught:
            await setup.call()
        assert setup.attempts == 3
        assert (caught.value.status, caught.value.excerpt) == (503, '{"message": "busy"}')


@pytest.mark.parametrize("first", [disconnect(), reply(raw=b'{"cut": ')], ids=["closed", "cut"])
async def test_a_lost_connection_or_a_cut_answer_is_tried_again(first: Reaction) -> None:
    """Nothing says that the request was wrong."""
    async with set_up(first, reply("fine")) as setup:
        assert await setup.call() == "fine"
        assert setup.attempts == 2


@pytest.mark.parametrize("status", [307, 400, 401, 402, 403, 404, 413, 422])
async def test_refusals_are_never_tried_again(status: int) -> None:
    """The same request would be refused again, and counts against the quota."""
    async with set_up(reply({}, status)) as setup:
        with pytest.raises(VendorRefused):
            await setup.call()
        assert setup.attempts == 1


async def test_a_number_that_is_none_is_not_tried_again() -> None:
    """The input is at fault; the breaker is not concerned."""
    async with set_up(reply(raw=b"[NaN]"), threshold=1) as setup:
        with pytest.raises(VendorGarbled):
            await setup.call()
        assert setup.attempts == 1
        assert setup.breaker.state is BreakerState.CLOSED


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


async def test_the_callers_deadline_counts_too() -> None:
    """Without time left nothing is sent."""
    async with set_up(reply("fine")) as setup:
        with narrowed_deadline(0.0), pytest.raises(DeadlineExceeded, match="mistral"):
            await setup.call()
        assert setup.attempts == 0
        with narrowed_deadline(30.0):
            assert await setup.call() == "fine"


async def test_a_hung_vendor_ends_with_the_deadline_and_is_not_tried_again() -> None:
    """Time is up; the breaker counts it."""
    async with set_up(hang(), threshold=2) as setup:
        for _ in range(2):
            with pytest.raises(VendorTimeout):
                await setup.call(timeout_s=0.05)
        assert setup.attempts == 2
        assert setup.breaker.state is BreakerState.OPEN


async def test_an_attempt_has_a_limit_of_its_own() -> None:
    """A single attempt does not use up the whole time of the call."""
    async with set_up(hang(), attempt_timeout_s=0.05, total_timeout_s=60.0) as setup:
        with pytest.raises(VendorTimeout):
            await setup.call()


async def test_the_breaker_opens_and_spares_the_vendor() -> None:
    """No attempt reaches it any more, and a running call stops its retries."""
    async with set_up(reply({}, 500), threshold=2) as setup:
        with pytest.raises(VendorUnavailable):
            await setup.call()
        assert setup.attempts == 2
        with pytest.raises(CircuitOpen):
            await setup.call()
        assert setup.attempts == 2


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_trips_the_breaker_at_once(status: int) -> None:
    """Until somebody changes the key every call would be refused."""
    async with set_up(reply({}, status)) as setup:
        with pytest.raises(VendorUnauthorized):
            await setup.call()
        with pytest.raises(CircuitOpen):
            await setup.call()
        assert setup.attempts == 1


@pytest.mark.parametrize("status", [400, 404, 422, 429])
async def test_refusals_and_limits_do_not_open_the_breaker(status: int) -> None:
    """Who refuses is alive."""
    async with set_up(reply({}, status), threshold=1) as setup:
        with pytest.raises(VendorError):
            await setup.call()
        assert setup.breaker.state is BreakerState.CLOSED


async def test_retries_add_little_to_an_outage() -> None:
    """Of 300 calls in an outage without a breaker, attempts exceed calls by less than a fifth."""
    calls = 300
    async with set_up(reply({}, 503), threshold=10**9) as setup:
        for _ in range(calls):
            with pytest.raises(VendorUnavailable):
                await setup.call()
        assert calls < setup.attempts <= calls * 1.2


async def test_the_limiter_is_asked_before_every_attempt() -> None:
    """Tokens of the request count against the limit, also when it is sent again."""
    async with set_up(reply({}, 500), reply("fine")) as setup:
        asked: list[float] = []

        class Recording(RateLimiter):
            async def acquire(self, tokens: float = 0.0, deadline: Any = None) -> None:
                asked.append(tokens)

        setup.client._limiter = Recording()
        await setup.call(tokens=1234)
        assert asked == [1234, 1234]


async def test_concurrent_calls_keep_their_own_answers() -> None:
    """Cancelled neighbours on shared connections do not mix up answers."""

    def echoing() -> Reaction:
        async def react(writer: asyncio.StreamWriter) -> None:
            body = setup.vendor.received[-1].body
            await asyncio.sleep(0)
            await reply(raw=body)(writer)

        return react

    async with set_up(reply(None), threshold=10**9) as setup:
        setup.vendor.reactions[:] = [echoing()]

        async def echo(number: int) -> None:
            answer = await setup.client.post_json("/echo", {"number": number})
            assert answer.value == {"number": number}

        random_numbers = random.Random(3)
        for number in range(100):
            call = asyncio.ensure_future(echo(number))
            if random_numbers.random() < 0.5:
                for _ in range(random_numbers.randrange(8)):
                    await asyncio.sleep(0)
                call.cancel()
            with suppress(asyncio.CancelledError):
                await call


def test_the_representation_has_no_secret() -> None:
    """It names vendor and address."""
    http = VendorHttp("x", "https://x.example", secret_headers={"k": SecretStr("sk-123456789")})
    assert repr(VendorClient(http)) == "VendorClient(VendorHttp('x', 'https://x.example'))"
