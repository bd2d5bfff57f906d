"""The rate limiter, in made-up time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.deadline import Deadline
from chassis.rate_limiter import RateLimited, RateLimiter
from tests.fakes.clock import FakeClock, settle


def limiter_on(clock: FakeClock, **limits: float) -> RateLimiter:
    """Returns a limiter in the clock's time."""
    return RateLimiter(clock=clock, sleep=clock.sleep, **limits)


class Passing:
    """Starts callers and notes when each passes, in seconds from the start."""

    def __init__(self, limiter: RateLimiter, clock: FakeClock) -> None:
        self.times: dict[str, float] = {}
        self._limiter = limiter
        self._clock = clock
        self._start = clock.now
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, tokens: float = 0.0, *, yielding: bool = False) -> None:
        async def caller() -> None:
            await self._limiter.acquire(tokens, yielding=yielding)
            self.times[name] = round(self._clock.now - self._start, 6)

        self._tasks[name] = asyncio.ensure_future(caller())
        await settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        with suppress(asyncio.CancelledError):
            await self._tasks[name]


async def test_requests_pass_at_the_rate_and_in_order() -> None:
    """60 a minute: one at once, then one a second, first come first served."""
    clock = FakeClock()
    passing = Passing(limiter_on(clock, requests_per_minute=60), clock)
    for name in "abcd":
        await passing.start(name)
    await clock.advance(10.0)
    assert passing.times == {"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0}


async def test_a_quiet_time_allows_a_burst_and_no_more() -> None:
    """After an hour of silence only `burst_s` seconds' worth passes at once."""
    clock = FakeClock()
    limiter = limiter_on(clock, requests_per_minute=60, burst_s=3)
    await clock.advance(3600)
    passing = Passing(limiter, clock)
    for name in "abcde":
        await passing.start(name)
    await clock.advance(10.0)
    assert passing.times == {"a": 0.0, "b": 0.0, "c": 0.0, "d": 1.0, "e": 2.0}


async def test_tokens_are_limited_beside_requests() -> None:
    """The scarcer of the two decides."""
    clock = FakeClock()
    limiter = limiter_on(clock, requests_per_minute=6000, tokens_per_minute=600)
    passing = Passing(limiter, clock)
    for name in "abc":
        await passing.start(name, tokens=10)
    await clock.advance(10.0)
    assert passing.times == {"a": 0.0, "b": 1.0, "c": 2.0}


async def test_a_request_larger_than_the_burst_passes_and_is_paid_for_later() -> None:
    """It waits for a full bucket, then the next one waits for the debt."""
    clock = FakeClock()
    passing = Passing(limiter_on(clock, tokens_per_minute=600), clock)
    await passing.start("huge", tokens=100)
    await passing.start("small", tokens=1)
    await clock.advance(60.0)
    assert passing.times == {"huge": 0.0, "small": 9.1}


async def test_a_wait_beyond_the_deadline_is_refused_at_once_and_takes_nothing() -> None:
    """Who cannot be served in time can go elsewhere now, and leaves the room to others."""
    clock = FakeClock()
    limiter = limiter_on(clock, requests_per_minute=60)
    await limiter.acquire()
    for _ in range(5):
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(deadline=Deadline.after(0.5, clock))
        assert caught.value.retry_after_s == pytest.approx(1.0)
    assert clock.slept == []
    passing = Passing(limiter, clock)
    await passing.start("next")
    await clock.advance(5.0)
    assert passing.times == {"next": 1.0}


async def test_a_pause_holds_for_everybody_also_for_those_who_wait_already() -> None:
    """One 429 is enough for all callers of the account."""
    clock = FakeClock()
    limiter = limiter_on(clock, requests_per_minute=60)
    passing = Passing(limiter, clock)
    await passing.start("through")
    await passing.start("waiting")
    limiter.pause_for(20.0)
    await passing.start("late")
    await clock.advance(15.0)
    assert passing.times == {"through": 0.0}
    await clock.advance(15.0)
    assert passing.times == {"through": 0.0, "waiting": 20.0, "late": 20.0}


async def test_a_shorter_pause_does_not_cut_a_longer_one() -> None:
    """The latest moment named counts."""
    clock = FakeClock()
    limiter = limiter_on(clock)
    limiter.pause_for(20.0)
    limiter.pause_for(1.0)
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire(deadline=Deadline.after(10.0, clock))
    assert caught.value.retry_after_s == pytest.approx(20.0)


async def test_a_pause_that_outlasts_the_deadline_of_a_waiting_caller_ends_its_wait() -> None:
    """It is refused when it notices, and gives its room back."""
    clock = FakeClock()
    limiter = limiter_on(clock, requests_per_minute=60)
    await limiter.acquire()
    waiting = asyncio.ensure_future(limiter.acquire(deadline=Deadline.after(5.0, clock)))
    await settle()
    limiter.pause_for(30.0)
    await clock.advance(2.0)
    with pytest.raises(RateLimited):
        await waiting


async def test_a_cancelled_caller_gives_its_room_back() -> None:
    """A caller that came later moves up."""
    clock = FakeClock()
    passing = Passing(limiter_on(clock, requests_per_minute=60), clock)
    for name in "ab":
        await passing.start(name)
    await passing.cancel("b")
    await passing.start("c")
    await clock.advance(5.0)
    assert passing.times == {"a": 0.0, "c": 1.0}


async def test_without_limits_nobody_waits() -> None:
    """The default lets everything pass."""
    clock = FakeClock()
    limiter = limiter_on(clock)
    for _ in range(100):
        await limiter.acquire(tokens=1e9)
    assert clock.slept == []


@given(st.lists(st.floats(0, 50), min_size=1, max_size=30), st.floats(60, 6000))
def test_no_window_ever_holds_more_than_rate_and_burst(gaps: list[float], limit: float) -> None:
    """However the calls come, any 60 seconds see at most the limit plus the burst."""

    async def run() -> list[float]:
        clock = FakeClock(auto=True)
        limiter = limiter_on(clock, requests_per_minute=limit)
        passed = []
        for gap in gaps:
            clock.now += gap / 10
            await limiter.acquire()
            passed.append(clock.now)
        return passed

    passed = asyncio.run(run())
    burst = max(1.0, limit / 60)
    for index, begin in enumerate(passed):
        within = sum(1 for moment in passed[index:] if moment < begin + 60)
        assert within <= limit + burst + 1


def test_senseless_limits_are_refused() -> None:
    """A limit of nothing would wait for ever."""
    with pytest.raises(ValueError, match="greater than 0"):
        RateLimiter(requests_per_minute=0)


async def test_who_yields_lets_everybody_else_go_first() -> None:
    """Large background requests that wait take no room from an urgent one that comes later."""
    clock = FakeClock()
    limiter = limiter_on(clock, tokens_per_minute=600.0)
    passing = Passing(limiter, clock)
    await passing.start("first", 10.0, yielding=True)
    for name in ("second", "third"):
        await passing.start(name, 10.0, yielding=True)
    await clock.advance(0.5)
    await passing.start("urgent", 1.0)
    await passing.start("urgent too", 6.0)
    await clock.advance(10.0)

    assert passing.times["first"] == 0.0
    assert passing.times["urgent"] == 0.5
    assert passing.times["urgent too"] == pytest.approx(0.7, abs=0.01)
    assert passing.times["second"] == pytest.approx(1.7, abs=0.02)
    assert passing.times["third"] == pytest.approx(2.7, abs=0.02)


async def test_who_yields_is_refused_before_a_wait_that_is_too_long() -> None:
    """As everybody is, and its room was never taken."""
    clock = FakeClock(auto=True)
    limiter = limiter_on(clock, requests_per_minute=6.0)
    await limiter.acquire(yielding=True)

    with pytest.raises(RateLimited):
        await limiter.acquire(deadline=Deadline.after(5.0, clock), yielding=True)

    await limiter.acquire(deadline=Deadline.after(10.1, clock))
