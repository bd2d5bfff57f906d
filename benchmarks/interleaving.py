"""Rounds of queries in turn, so that whatever slows the machine slows all of them.

Within a round a system's time is that of its median query, which somebody else's turn on the
processor does not touch. A ratio is the median over rounds of the ratio within a round; the lowest
and highest are kept as well, for they tell how far the median can be trusted.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Figures: TypeAlias = dict[str, float | None]
"""Figures by name; None is one that was not measured."""


@dataclass(frozen=True, slots=True)
class Round:
    """Holds the seconds of each query of a round, and the CPU seconds of all of them."""

    seconds: Sequence[float]
    cpu_s: float
    core_seconds: Sequence[float] = ()
    """Of each query, what the search itself took on a thread of its own."""

    @property
    def typical_s(self) -> float:
        """Seconds of the median query."""
        return statistics.median(self.seconds)


@dataclass(frozen=True, slots=True)
class Timing:
    """Holds the rounds of one system."""

    rounds: Sequence[Round]

    @property
    def queries_per_second(self) -> float:
        """One query after the other, each as fast as the median of its round."""
        return statistics.median(1 / one.typical_s for one in self.rounds)

    @property
    def core(self) -> "Timing":
        """The same rounds without the way to the search thread and back."""
        return Timing([Round(one.core_seconds, one.cpu_s) for one in self.rounds])

    @property
    def median_ms(self) -> float:
        """Median over all queries."""
        return statistics.median(self._sorted) * 1e3

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds a query of all threads, median over rounds."""
        return statistics.median(one.cpu_s / len(one.seconds) for one in self.rounds) * 1e3

    def percentile_ms(self, percent: float) -> float:
        """Returns the time that so many percent of all queries did not pass."""
        ordered = self._sorted
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1e3

    @property
    def _sorted(self) -> list[float]:
        return sorted(second for one in self.rounds for second in one.seconds)


def timed_round(queries: Sequence[Callable[[], object]]) -> Round:
    """Runs queries that neither wait nor use other threads, by the CPU time of this thread."""
    seconds = []
    cpu = time.process_time()
    for query in queries:
        started = time.thread_time()
        query()
        seconds.append(time.thread_time() - started)
    return Round(seconds, time.process_time() - cpu)


def interleaved(systems: Mapping[str, Callable[[], Round]], rounds: int) -> dict[str, Timing]:
    """Runs so many rounds of each system in turn, after one of each that warms up."""
    done: dict[str, list[Round]] = {name: [] for name in systems}
    for number in range(rounds + 1):
        for name, run in systems.items():
            finished = run()
            if number:
                done[name].append(finished)
    return {name: Timing(found) for name, found in done.items()}


def speed_ratios(label: str, ours: Timing, other: Timing) -> Figures:
    """Returns how many times the other's queries a second ours has; with the spread of rounds."""
    return spread(
        label,
        [
            theirs.typical_s / own.typical_s
            for own, theirs in zip(ours.rounds, other.rounds, strict=True)
        ],
    )


def time_ratios(label: str, ours: Timing, other: Timing) -> Figures:
    """Returns our time a query as a multiple of the other's; with the spread of rounds."""
    return spread(
        label,
        [
            own.typical_s / theirs.typical_s
            for own, theirs in zip(ours.rounds, other.rounds, strict=True)
        ],
    )


def spread(label: str, ratios: Sequence[float]) -> Figures:
    """Returns median, lowest and highest."""
    return {
        label: statistics.median(ratios),
        f"{label}, lowest round": min(ratios),
        f"{label}, highest round": max(ratios),
    }
