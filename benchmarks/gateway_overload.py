"""Ten times as many searches as the gateway can answer, sent whether it answers or not.

The real gateway stands before stages that answer canned bytes, the retriever after 50 ms, and works
on eight searches at a time: fewer than the machine could, since the sender shares it. Its peak is
the most searches a second that callers get who wait for their answers; then searches come at ten
times that rate without waiting.
"""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc
import grpc.aio
import uvloop

from benchmarks.gateway_hops import SEARCH, cached_request, gateway_before_canned_stages
from benchmarks.interleaving import Figures
from benchmarks.machine import resident_bytes_of
from benchmarks.server_process import ServerProcess

CALLERS = (8, 12)
RETRIEVER_S = 0.05
SETTINGS = {"QUERIES_AT_WORK": "8", "QUERIES_WAITING": "8"}
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
    refused_s: list[float] = field(default_factory=list)

    async def call(self, search: Search) -> None:
        """Makes one call."""
        started = time.perf_counter()
        try:
            await search(cached_request(), timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            self.statuses[error.code().name] += 1
            self.refused_s.append(time.perf_counter() - started)
        else:
            self.statuses["OK"] += 1
            self.answered_s.append(time.perf_counter() - started)


def measure(quick: bool) -> Figures:
    """Returns what is left of the peak, of latencies and of memory under ten times the peak."""
    with gateway_before_canned_stages(retriever_s=RETRIEVER_S, settings=SETTINGS) as servers:
        return uvloop.run(_measured(servers, 2.0 if quick else 10.0))


async def _measured(servers: Sequence[ServerProcess], seconds: float) -> Figures:
    gateway = servers[0]
    async with grpc.aio.insecure_channel(gateway.address) as channel:
        search: Search = channel.unary_unary(SEARCH)
        await _closed_loop(search, 4, seconds / 4)  # warms up, and has the vector known
        alone = await _closed_loop(search, 1, seconds / 2)
        at_peak = {callers: await _closed_loop(search, callers, seconds) for callers in CALLERS}
        rates = {callers: len(found.answered_s) / seconds for callers, found in at_peak.items()}
        best = max(rates, key=lambda callers: rates[callers])
        memory = resident_bytes_of(gateway.process_id)
        flood = await _open_loop(search, TIMES * rates[best], seconds)
        grown = resident_bytes_of(gateway.process_id) / memory
        recovered_s = await _recovered_after(search, statistics.median(alone.answered_s))
    answered = flood.statuses["OK"] / seconds
    peak_p99 = _percentile(at_peak[best].answered_s, 0.99)
    return {
        "peak, searches/s": rates[best],
        "callers at the peak": float(best),
        "sent, searches/s / peak": flood.statuses.total() / seconds / rates[best],
        "answered in the flood, searches/s / peak": answered / rates[best],
        "p99 of the answered / at the peak": _percentile(flood.answered_s, 0.99) / peak_p99,
        "p99 of the answered / of one caller alone": _percentile(flood.answered_s, 0.99)
        / _percentile(alone.answered_s, 0.99),
        "refused, share": 1 - flood.statuses["OK"] / flood.statuses.total(),
        "refused for other reasons than overload": float(
            flood.statuses.total() - flood.statuses["OK"] - flood.statuses["RESOURCE_EXHAUSTED"]
        ),
        "memory after / before": grown,
        "seconds until a search takes its time again": recovered_s,
    }


async def _closed_loop(search: Search, callers: int, seconds: float) -> Outcomes:
    found = Outcomes()
    end = time.perf_counter() + seconds

    async def caller() -> None:
        while time.perf_counter() < end:
            await found.call(search)

    await asyncio.gather(*(caller() for _ in range(callers)))
    return found


async def _open_loop(search: Search, rate: float, seconds: float) -> Outcomes:
    found = Outcomes()
    started, sent = time.perf_counter(), 0
    async with asyncio.TaskGroup() as group:
        while (passed := time.perf_counter() - started) < seconds:
            due = round(rate * passed)
            for _ in range(due - sent):
                group.create_task(found.call(search))
            sent = due
            await asyncio.sleep(_TICK_S)
    return found


async def _recovered_after(search: Search, typical_s: float) -> float:
    """Returns the seconds until the median of twenty searches is within 1.5 of what it was."""
    started = time.perf_counter()
    while True:
        found = Outcomes()
        for _ in range(_RECOVERED_CALLS):
            await found.call(search)
        took = time.perf_counter() - started
        usual = len(found.answered_s) == _RECOVERED_CALLS and (
            statistics.median(found.answered_s) <= 1.5 * typical_s
        )
        if usual or took > 30:
            return took


def _percentile(seconds: Sequence[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
