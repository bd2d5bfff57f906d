"""How often a task is tried, and how long it waits in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Doubles the pause from `first_s` up to `longest_s`, each shortened by up to a half at random.

    `attempts` counts all tries, those included that a process did not live to the end of.
    """

    attempts: int = 12
    first_s: float = 1.0
    longest_s: float = 300.0

    def pause_s(
        self, attempt_count: int, chance: Callable[[float, float], float] = random.uniform
    ) -> float:
        """Returns the pause after a number of attempts, at least 1."""
        pause = min(self.first_s * 2.0 ** min(attempt_count - 1, 30), self.longest_s)
        return pause * chance(0.5, 1.0)
