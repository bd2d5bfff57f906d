"""What each workspace has cost today."""

from typing import Protocol

from chassis import clock as clocks
from chassis.clock import Clock

_DAY_S = 86_400


class KeptCosts(Protocol):
    """Keeps costs over a restart; days count from 1970 (UTC)."""

    def costs_of(self, day: int) -> dict[str, float]:
        """Returns what each workspace had cost on a day."""

    def put_cost(self, day: int, workspace: str, cost: float) -> None:
        """Notes what a workspace has cost on a day, in place of an earlier amount."""

    def drop_costs_before(self, day: int) -> None:
        """Forgets earlier days."""


class CostLedger:
    """Adds up costs by workspace and day (UTC), and says who has reached the cap.

    `daily_cap` is None for no cap. Unless costs are `kept`, a restart begins a new count; each of
    several replicas counts its own part of a cap that is divided among them.
    """

    def __init__(
        self,
        daily_cap: float | None,
        wall: Clock = clocks.wall,
        kept: KeptCosts | None = None,
    ) -> None:
        self._daily_cap = daily_cap
        self._wall = wall
        self._kept = kept
        self._day = self._today()
        self._costs: dict[str, float] = {} if kept is None else kept.costs_of(self._day)

    def add(self, workspace: str, cost: float) -> None:
        """Counts a cost; an empty workspace is counted like any other."""
        if cost:
            self._turn_day()
            total = self._costs[workspace] = self._costs.get(workspace, 0.0) + cost
            if self._kept is not None:
                self._kept.put_cost(self._day, workspace, total)

    def may_pay(self, workspace: str) -> bool:
        """Whether paid providers may work for the workspace now."""
        if self._daily_cap is None:
            return True
        self._turn_day()
        return self._costs.get(workspace, 0.0) < self._daily_cap

    def _turn_day(self) -> None:
        day = self._today()
        if day != self._day:
            self._day = day
            self._costs.clear()
            if self._kept is not None:
                self._kept.drop_costs_before(day)

    def _today(self) -> int:
        return int(self._wall() // _DAY_S)
