"""What each workspace has cost today."""

from chassis import clock as clocks
from chassis.clock import Clock

_DAY_S = 86_400


class CostLedger:
    """Adds up costs by workspace and day (UTC), and says who has reached the cap.

    `daily_cap` is None for no cap. Kept in memory: a restart begins a new count, and each of
    several replicas counts its own part of a cap that is divided among them.
    """

    def __init__(self, daily_cap: float | None, wall: Clock = clocks.wall) -> None:
        self._daily_cap = daily_cap
        self._wall = wall
        self._day = 0
        self._costs: dict[str, float] = {}

    def add(self, workspace: str, cost: float) -> None:
        """Counts a cost; an empty workspace is counted like any other."""
        if cost:
            self._turn_day()
            self._costs[workspace] = self._costs.get(workspace, 0.0) + cost

    def may_pay(self, workspace: str) -> bool:
        """Whether paid providers may work for the workspace now."""
        if self._daily_cap is None:
            return True
        self._turn_day()
        return self._costs.get(workspace, 0.0) < self._daily_cap

    def _turn_day(self) -> None:
        day = int(self._wall() // _DAY_S)
        if day != self._day:
            self._day = day
            self._costs.clear()
