"""When a vendor is asked again, when never, and when it is left alone for a while."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.deadline import Deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded
from chassis.vendor_connection import Timing
from chassis.vendor_errors import VendorError, VendorLimited, VendorRefused, VendorTimeout
from tests.fakes.chat_vendor import MISTRAL, OLLAMA, OPENAI, REQUEST, VENDORS, Vendor, chat_of
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Reaction, disconnect, fake_vendor, hang, reply


def made_up_time() -> tuple[FakeClock, Timing]:
    """A clock that runs only while somebody sleeps."""
    clock = FakeClock(auto=True)
    return clock, Timing(clock, clock.sleep, random.Random(7))


QUOTA = {
    "error": {
        "message": "You exceeded your current quota",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
}
FOR_ALL: list[tuple[Vendor, int, Any]] = [
    (OPENAI, 429, QUOTA),
    (OPENAI, 401, {"error": {"message": "Incorrect API key"}}),
    (OPENAI, 403, {"error": {"message": "Country not supported"}}),
    (MISTRAL, 402, {"message": "payment required"}),
    (OPENAI, 404, {"error": {"message": "The model does not exist", "code": "model_not_found"}}),
    (OLLAMA, 404, {"error": 'model "model-1" not found, try pulling it first'}),
    (OPENAI, 307, {}),
]


@pytest.mark.parametrize(("vendor", "status", "body"), FOR_ALL)
async def test_what_refuses_every_request_is_asked_once_and_left_alone(
    vendor: Vendor, status: int, body: Any
) -> None:
    """No quota, no key, no money, no model, another address: none of them passes by itself."""
    breaker = CircuitBreaker("vendor")
    headers = {"location": "http://127.0.0.1:1/"}
    async with chat_of(vendor, reply(body, status, headers), breaker=breaker) as (server, chat):
        with pytest.raises(VendorRefused) as caught:
            await chat.complete(REQUEST)
        with pytest.raises(CircuitOpen):
            await chat.complete(REQUEST)
        assert len(server.received) == 1
    assert caught.value.status == status


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_that_is_refused_says_nothing_of_the_next(status: int) -> None:
    """It is not sent again, and the breaker stays closed: a shorter one may pass."""
    breaker = CircuitBreaker("vendor", threshold=1)
    body = {"message": "prompt too long"}
    async with chat_of(MISTRAL, reply(body, status), breaker=breaker) as (server, chat):
        with pytest.raises(VendorRefused):
            await chat.complete(REQUEST)
        assert len(server.received) == 1
    assert breaker.state is BreakerState.CLOSED


LIMITED = [
    {"object": "error", "message": "Rate limit", "type": "rate_limited", "code": "1300"},
    {"message": "Requests rate limit exceeded"},
    {"message": "Service tier capacity exceeded", "type": "invalid_request_error", "code": None},
    {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}},
]


@pytest.mark.parametrize("body", LIMITED)
async def test_a_rate_limit_is_waited_for(body: Any) -> None:
    """For as long as the vendor asks, whatever shape its body has."""
    clock, timing = made_up_time()
    limited = reply(body, 429, {"retry-after": "2"})
    async with chat_of(MISTRAL, limited, MISTRAL.answer("fine"), timing=timing) as (server, chat):
        assert (await chat.complete(REQUEST)).text == "fine"
        assert len(server.received) == 2
    assert 2.0 <= sum(clock.slept) < 4.5


@pytest.mark.parametrize("value", ["30", "1e9", "Fri, 01 Jan 2100 00:00:00 GMT"])
async def test_no_pause_outlives_the_deadline(value: str) -> None:
    """The error comes at once, so that another model can use the time."""
    clock, timing = made_up_time()
    limited = reply({}, 429, {"retry-after": value})
    async with chat_of(MISTRAL, limited, timing=timing) as (server, chat):
        with pytest.raises(VendorLimited):
            await chat.complete(REQUEST, Deadline.after(5.0, clock))
        assert len(server.received) == 1
    assert clock.slept == []


@pytest.mark.parametrize("value", ["-1", "soon", ""])
async def test_a_pause_that_cannot_be_read_is_a_short_one(value: str) -> None:
    """As after any other passing failure."""
    clock, timing = made_up_time()
    limited = reply({}, 429, {"retry-after": value})
    async with chat_of(MISTRAL, limited, MISTRAL.answer("fine"), timing=timing) as (_, chat):
        assert (await chat.complete(REQUEST)).text == "fine"
    assert sum(clock.slept) <= 0.25


@pytest.mark.parametrize(
    "first", [*(reply({}, status) for status in (500, 502, 503, 504)), disconnect()]
)
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_a_passing_failure_is_tried_once_more(vendor: Vendor, first: Reaction) -> None:
    """Somebody waits, so not oftener."""
    _, timing = made_up_time()
    async with chat_of(vendor, first, vendor.answer("fine"), timing=timing) as (server, chat):
        assert (await chat.complete(REQUEST)).text == "fine"
        assert len(server.received) == 2


async def test_an_outage_costs_few_attempts() -> None:
    """A hundred calls: the breaker lets hardly any of them through."""
    clock, timing = made_up_time()
    breaker = CircuitBreaker("vendor", clock=clock)
    async with chat_of(MISTRAL, reply({}, 503), timing=timing, breaker=breaker) as (server, chat):
        for _ in range(100):
            with pytest.raises((VendorError, CircuitOpen)):
                await chat.complete(REQUEST)
        assert len(server.received) <= 10


async def test_the_callers_deadline_ends_a_call() -> None:
    """That of the call being served counts without being passed on."""
    async with chat_of(OPENAI, hang()) as (server, chat):
        with narrowed_deadline(0.05), pytest.raises(VendorTimeout):
            await chat.complete(REQUEST)
        with narrowed_deadline(0.0), pytest.raises(DeadlineExceeded):
            await chat.complete(REQUEST)
        await server.left()
        assert len(server.received) == 1


async def test_a_redirect_is_not_followed() -> None:
    """The key goes to the configured address alone."""
    async with fake_vendor(reply({})) as elsewhere:
        redirect = reply({}, 302, {"location": elsewhere.url})
        async with chat_of(OPENAI, redirect) as (_, chat):
            with pytest.raises(VendorRefused, match="redirect"):
                await chat.complete(REQUEST)
        assert elsewhere.received == []
