"""The circuit breaker, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from chassis.circuit_breaker import CircuitBreaker, CircuitOpen
from tests.fakes.clock import FakeClock


class Vendor:
    """Something that can fail, behind a breaker."""

    def __init__(self, **options: float) -> None:
        self.clock = FakeClock()
        self.changes: list[tuple[str, str]] = []
        self.breaker = CircuitBreaker(
            "vendor",
            threshold=3,
            clock=self.clock,
            on_change=lambda _, old, new: self.changes.append((old.value, new.value)),
            **options,
        )

    @property
    def state(self) -> str:
        return self.breaker.state.value

    def succeed(self) -> None:
        with self.breaker.attempt():
            pass

    def fail(self, error: Exception | None = None) -> None:
        failure = error or OSError("down")
        with suppress(type(failure)), self.breaker.attempt(_is_os_error):
            raise failure


def _is_os_error(error: Exception) -> bool:
    return isinstance(error, OSError)


def test_it_opens_after_failures_in_a_row_only() -> None:
    """A success between failures starts the count again."""
    vendor = Vendor()
    for _ in range(5):
        vendor.fail()
        vendor.fail()
        vendor.succeed()
    assert vendor.state == "closed"
    for _ in range(3):
        vendor.fail()
    assert vendor.state == "open"
    assert vendor.changes == [("closed", "open")]


def test_refusals_of_a_living_vendor_do_not_open_it() -> None:
    """What is no failure counts like a success."""
    vendor = Vendor()
    for _ in range(9):
        vendor.fail()
        vendor.fail()
        vendor.fail(ValueError("bad request"))
    assert vendor.state == "closed"


def test_an_open_breaker_refuses_at_once_and_says_until_when() -> None:
    """The call is not begun."""
    vendor = Vendor(open_s=30.0)
    for _ in range(3):
        vendor.fail()
    vendor.clock.now += 12.0
    begun = False
    with pytest.raises(CircuitOpen) as caught, vendor.breaker.attempt():
        begun = True
    assert not begun
    assert caught.value.retry_after_s == pytest.approx(18.0)
    assert caught.value.reason == "CIRCUIT_OPEN"


def test_one_probe_at_a_time_decides() -> None:
    """While the probe is under way the others are still refused; its success closes."""
    vendor = Vendor(open_s=30.0)
    for _ in range(3):
        vendor.fail()
    vendor.clock.now += 30.0
    assert vendor.state == "half_open"
    with vendor.breaker.attempt():
        with pytest.raises(CircuitOpen), vendor.breaker.attempt():
            pytest.fail("a second probe")
        assert vendor.state == "half_open"
    assert vendor.state == "closed"
    vendor.succeed()


def test_failed_probes_double_the_pause_up_to_its_limit() -> None:
    """A vendor that flaps is asked ever more rarely; a success brings the first pause back."""
    vendor = Vendor(open_s=30.0, max_open_s=100.0)
    for _ in range(3):
        vendor.fail()
    for pause in (30.0, 60.0, 100.0, 100.0):
        vendor.clock.now += pause - 0.1
        assert vendor.state == "open"
        vendor.clock.now += 0.1
        assert vendor.state == "half_open"
        vendor.fail()
        assert vendor.state == "open"
    vendor.clock.now += 100.0
    vendor.succeed()
    for _ in range(3):
        vendor.fail()
    vendor.clock.now += 30.0
    assert vendor.state == "half_open"


async def test_a_cancelled_probe_gives_its_place_back() -> None:
    """It has shown nothing: the next call is the probe."""
    vendor = Vendor(open_s=30.0)
    for _ in range(3):
        vendor.fail()
    vendor.clock.now += 30.0

    async def probe() -> None:
        with vendor.breaker.attempt():
            await asyncio.Event().wait()

    task = asyncio.ensure_future(probe())
    await asyncio.sleep(0)
    with pytest.raises(CircuitOpen):
        vendor.succeed()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert vendor.state == "half_open"
    vendor.succeed()
    assert vendor.state == "closed"


def test_a_late_success_does_not_close_it() -> None:
    """A call that began before the breaker opened says nothing about now."""
    vendor = Vendor(open_s=30.0)
    with vendor.breaker.attempt():
        for _ in range(3):
            vendor.fail()
    assert vendor.state == "open"


def test_a_late_failure_does_not_count_towards_the_next_opening() -> None:
    """Nor does it say anything once the breaker has closed again."""
    vendor = Vendor(open_s=30.0)
    with suppress(OSError), vendor.breaker.attempt():
        for _ in range(3):
            vendor.fail()
        vendor.clock.now += 30.0
        vendor.succeed()
        raise OSError("late")
    vendor.fail()
    vendor.fail()
    assert vendor.state == "closed"
    vendor.fail()
    assert vendor.state == "open"


def test_a_tripped_breaker_is_open_at_once() -> None:
    """One refused key is proof enough."""
    vendor = Vendor(open_s=30.0)
    vendor.breaker.trip()
    with pytest.raises(CircuitOpen):
        vendor.succeed()
    vendor.clock.now += 30.0
    vendor.succeed()
    assert vendor.changes == [("closed", "open"), ("open", "half_open"), ("half_open", "closed")]


def test_a_vendor_that_flaps_gets_few_calls() -> None:
    """Up and down every two seconds for a minute: far fewer attempts than calls."""
    vendor = Vendor(open_s=10.0)
    reached = 0
    for tick in range(600):
        vendor.clock.now = 1000.0 + tick * 0.1
        down = (tick // 20) % 2 == 0
        with suppress(CircuitOpen, OSError), vendor.breaker.attempt():
            reached += 1
            if down:
                raise OSError("down")
    assert 0 < reached < 300
    assert len(vendor.changes) <= 20


@pytest.mark.parametrize(
    ("threshold", "open_s", "max_open_s"), [(0, 1.0, 2.0), (1, 0.0, 2.0), (1, 3.0, 2.0)]
)
def test_senseless_settings_are_refused(threshold: int, open_s: float, max_open_s: float) -> None:
    """A breaker that never closes or never opens is a mistake."""
    with pytest.raises(ValueError, match="threshold"):
        CircuitBreaker("x", threshold=threshold, open_s=open_s, max_open_s=max_open_s)
