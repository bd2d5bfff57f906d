"""Equal work is done once, for as long as somebody wants it."""

from __future__ import annotations

import asyncio

import pytest

from rewriter_svc.single_flight import SingleFlight


class Work:
    """Work that waits for its gate and counts how often it was begun and cancelled."""

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = asyncio.Event()
        self.begun = 0
        self.cancelled = 0
        self._error = error

    async def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._error is not None:
            raise self._error
        return number


async def all_waiting() -> None:
    """Lets every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_fifty_callers_share_one() -> None:
    """One of them has started it."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work()
    callers = [asyncio.ensure_future(flights.run("key", work)) for _ in range(50)]
    await all_waiting()
    work.gate.set()

    results = await asyncio.gather(*callers)

    assert work.begun == 1
    assert [result for result, _ in results] == [1] * 50
    assert sum(started for _, started in results) == 1


async def test_other_keys_and_later_callers_start_their_own() -> None:
    """Nothing is remembered."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work()
    work.gate.set()

    assert await flights.run("a", work) == (1, True)
    assert await flights.run("b", work) == (2, True)
    assert await flights.run("a", work) == (3, True)


@pytest.mark.parametrize("leaving", [0, 1], ids=["the first", "another"])
async def test_one_who_leaves_does_not_disturb_the_others(leaving: int) -> None:
    """Not even the one it was started for."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work()
    callers = [asyncio.ensure_future(flights.run("key", work)) for _ in range(3)]
    await all_waiting()

    callers[leaving].cancel()
    await all_waiting()
    assert work.cancelled == 0
    work.gate.set()

    results = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(results[leaving], asyncio.CancelledError)
    assert [result[0] for result in results if isinstance(result, tuple)] == [1, 1]


async def test_work_that_nobody_wants_is_cancelled() -> None:
    """With the last caller; whoever comes afterwards starts anew."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work()
    callers = [asyncio.ensure_future(flights.run("key", work)) for _ in range(3)]
    await all_waiting()

    for caller in callers:
        caller.cancel()
    late = asyncio.ensure_future(flights.run("key", work))
    await all_waiting()
    work.gate.set()

    assert await late == (work.begun, work.begun == 2)
    await asyncio.gather(*callers, return_exceptions=True)
    assert "key" not in flights


async def test_cancelling_all_cancels_the_work() -> None:
    """And leaves nothing behind."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work()
    callers = [asyncio.ensure_future(flights.run("key", work)) for _ in range(3)]
    await all_waiting()
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await all_waiting()

    assert (work.begun, work.cancelled) == (1, 1)
    assert "key" not in flights


async def test_all_hear_of_an_error() -> None:
    """And none of them twice; nobody's is left unheard."""
    flights: SingleFlight[str, int] = SingleFlight()
    work = Work(ValueError("broken"))
    callers = [asyncio.ensure_future(flights.run("key", work)) for _ in range(3)]
    await all_waiting()
    work.gate.set()

    results = await asyncio.gather(*callers, return_exceptions=True)

    assert [str(result) for result in results] == ["broken"] * 3
    assert "key" not in flights
