"""A vendor's client: retries, breaker, budget and deadlines."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any

import pytest
from pydantic import SecretStr

from chassis.circuit_breaker import BreakerState, CircuitOpen
from chassis.deadline import narrowed_deadline
from chassis.errors import DeadlineExceeded
from chassis.rate_limiter import RateLimiter
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorRefused,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
)
from chassis.vendor_http import VendorHttp
from tests.fakes.vendor import Reaction, disconnect, hang, reply
from tests.fakes.vendor_setup import set_up


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
                await setup.call(timeout_s=0.2)
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
            async def acquire(
                self, tokens: float = 0.0, deadline: Any = None, *, yielding: bool = False
            ) -> None:
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
