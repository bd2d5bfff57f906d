"""How long stages took lately, so that one which would not be done in time is not begun."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from chassis import clock as clocks
from chassis.clock import Clock

REMEMBERED_CALLS = 20
FEWEST_CALLS = 10
"""Fewer than that say nothing of a 95th percentile."""
REMEMBERED_S = 60.0
PROBE_EVERY_S = 5.0
HEALED_AFTER = 3
"""Calls in a row that are answered, after which those that were given up are forgotten."""


@dataclass(slots=True)
class _Recent:
    """Moments and durations, in seconds, of the last calls of one stage, and whether given up."""

    calls: deque[tuple[float, float, bool]] = field(
        default_factory=lambda: deque(maxlen=REMEMBERED_CALLS)
    )
    answered_in_a_row: int = 0
    slowest: float = 0.0
    probed_at: float = -math.inf
    probing: bool = False


class StageTimes:
    """Remembers the last 20 calls of each stage, those of the last minute.

    A stage whose 95th percentile is over the time there is would most likely be given up after
    having used that time, so it is not called; but for one call every 5 s, which finds out whether
    it has become fast again; three answers in a row, to patient callers, find it out too. Belongs
    to one event loop.
    """

    def __init__(self, clock: Clock = clocks.monotonic) -> None:
        self._clock = clock
        self._stages: dict[str, _Recent] = {}

    def p95_s(self, stage: str) -> float | None:
        """Returns the 95th percentile (nearest rank) of a stage; None where too little is known."""
        recent = self._stages.get(stage)
        return None if recent is None else self._percentile(recent)

    def admits(self, stage: str, seconds: float) -> bool:
        """Whether a call of the stage is to be made in so many seconds."""
        recent = self._stages.get(stage)
        # No call that is remembered took longer: nothing is to be counted.
        if recent is None or recent.slowest <= seconds:
            return True
        percentile = self._percentile(recent)
        if percentile is None or percentile <= seconds:
            return True
        now = self._clock()
        if now - recent.probed_at < PROBE_EVERY_S:
            return False
        recent.probed_at, recent.probing = now, True
        return True

    def answered(self, stage: str, seconds: float) -> None:
        """Notes that a call was answered after so many seconds."""
        recent = self._stages.setdefault(stage, _Recent())
        if recent.probing and seconds < recent.slowest:
            # The stage is another one than it was.
            recent.calls.clear()
            recent.slowest = 0.0
        recent.probing = False
        recent.answered_in_a_row += 1
        if recent.answered_in_a_row == HEALED_AFTER:
            kept = [call for call in recent.calls if not call[2]]
            recent.calls.clear()
            recent.calls.extend(kept)
            recent.slowest = max((taken for _, taken, _ in kept), default=0.0)
        self._add(recent, seconds, late=False)

    def given_up(self, stage: str, seconds: float) -> None:
        """Notes that a call was given up after so many seconds: it would have taken longer.

        It counts as twice that, so that callers who have twice the time still wait for it.
        """
        recent = self._stages.setdefault(stage, _Recent())
        recent.probing = False
        recent.answered_in_a_row = 0
        self._add(recent, 2 * seconds, late=True)

    def _add(self, recent: _Recent, seconds: float, *, late: bool) -> None:
        recent.calls.append((self._clock(), seconds, late))
        if seconds >= recent.slowest:
            recent.slowest = seconds

    def _percentile(self, recent: _Recent) -> float | None:
        oldest = self._clock() - REMEMBERED_S
        while recent.calls and recent.calls[0][0] < oldest:
            recent.calls.popleft()
        ordered = sorted(seconds for _, seconds, _ in recent.calls)
        recent.slowest = ordered[-1] if ordered else 0.0
        if len(ordered) < FEWEST_CALLS:
            return None
        return ordered[math.ceil(0.95 * len(ordered)) - 1]
