"""Searches sent as fast as they are answered, and ten times as fast."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc
import grpc.aio

from benchmarks.interleaving import Figures

TIMES = 10
TIMEOUT_S = 5.0
_TICK_S = 0.005
_RECOVERED_CALLS = 20

Search: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"


@dataclass(slots=True)
class Outcomes:
    """How calls ended, and the seconds of those that were answered."""

    statuses: Counter[str] = field(default_factory=Counter)
    answered_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Flood:
    """Measures a gateway at its peak and under ten times as many searches.

    `request` makes the bytes of the next search, `resident_bytes` says what the processes hold.
    The peak is the most searches a second that so many `callers` get who wait for their answers.
    """

    search: Search
    request: Callable[[], bytes]
    resident_bytes: Callable[[], float]
    callers: Sequence[int]
    seconds: float

    async def measured(self) -> Figures:
        """Returns what is left of the peak, of latencies and of memory in the flood."""
        await self._closed_loop(4, self.seconds / 4)  # warms up
        alone = await self._closed_loop(1, self.seconds / 2)
        at_peak = {
            callers: await self._closed_loop(callers, self.seconds) for callers in self.callers
        }
        rates = {
            callers: len(found.answered_s) / self.seconds for callers, found in at_peak.items()
        }
        best = max(rates, key=lambda callers: rates[callers])
        memory = self.resident_bytes()
        flood = await self._open_loop(TIMES * rates[best])
        grown = self.resident_bytes() / memory
        recovered_s = await self._recovered_after(statistics.median(alone.answered_s))
        return {
            "peak, searches/s": rates[best],
            "callers at the peak": float(best),
            "sent, searches/s / peak": flood.statuses.total() / self.seconds / rates[best],
            "answered in the flood, searches/s / peak": (
                flood.statuses["OK"] / self.seconds / rates[best]
            ),
            "p99 of the answered / at the peak": (
                _percentile(flood.answered_s, 0.99) / _percentile(at_peak[best].answered_s, 0.99)
            ),
            "p99 of the answered / of one caller alone": (
                _percentile(flood.answered_s, 0.99) / _percentile(alone.answered_s, 0.99)
            ),
            "refused, share": 1 - flood.statuses["OK"] / flood.statuses.total(),
            "refused for other reasons than overload": float(_others(flood.statuses)),
            "memory after / before": grown,
            "seconds until a search takes its time again": recovered_s,
        }

    async def _call(self, found: Outcomes) -> None:
        started = time.perf_counter()
        try:
            await self.search(self.request(), timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            found.statuses[error.code().name] += 1
        else:
            found.statuses["OK"] += 1
            found.answered_s.append(time.perf_counter() - started)

    async def _closed_loop(self, callers: int, seconds: float) -> Outcomes:
        found = Outcomes()
        end = time.perf_counter() + seconds

        async def caller() -> None:
            while time.perf_counter() < end:
                await self._call(found)

        await asyncio.gather(*(caller() for _ in range(callers)))
        return found

    async def _open_loop(self, rate: float) -> Outcomes:
        found = Outcomes()
        started, sent = time.perf_counter(), 0
        async with asyncio.TaskGroup() as group:
            while (passed := time.perf_counter() - started) < self.seconds:
                due = round(rate * passed)
                for _ in range(due - sent):
                    group.create_task(self._call(found))
                sent = due
                await asyncio.sleep(_TICK_S)
        return found

    async def _recovered_after(self, typical_s: float) -> float:
        """Returns the seconds until the median of twenty searches is within 1.5 of what it was."""
        started = time.perf_counter()
        while True:
            found = Outcomes()
            for _ in range(_RECOVERED_CALLS):
                await self._call(found)
            took = time.perf_counter() - started
            usual = len(found.answered_s) == _RECOVERED_CALLS and (
                statistics.median(found.answered_s) <= 1.5 * typical_s
            )
            if usual or took > 30:
                return took


def _others(statuses: Mapping[str, int]) -> int:
    told = {"OK", "RESOURCE_EXHAUSTED"}
    return sum(count for status, count in statuses.items() if status not in told)


def _percentile(seconds: Sequence[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
