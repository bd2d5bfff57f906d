"""Leases of the work on a space: one holder at a time, for as long as it says that it lives.

They are kept in memory: a restart forgets them, and then takes vectors from nobody who has not
leased the space anew.
"""

from dataclasses import dataclass

from chassis.clock import Clock, monotonic
from chassis.errors import FailedPrecondition
from retriever_svc.spaces import SpaceLease


@dataclass(frozen=True, slots=True)
class _Held:
    holder: str
    until: float


class SpaceLeases:
    """Knows who works on which space of which workspace."""

    def __init__(self, clock: Clock = monotonic) -> None:
        self._clock = clock
        self._held: dict[tuple[str, str], _Held] = {}

    def lease(self, workspace: str, space_id: str, holder: str, duration_s: float) -> SpaceLease:
        """Grants or prolongs the lease, or gives it back where `duration_s` is 0."""
        self._expire()
        place, now = (workspace, space_id), self._clock()
        held = self._held.get(place)
        if held is not None and held.holder != holder:
            return SpaceLease(granted=False, remaining_s=held.until - now)
        if duration_s <= 0:
            self._held.pop(place, None)
            return SpaceLease(granted=False, remaining_s=0.0)
        self._held[place] = _Held(holder, now + duration_s)
        return SpaceLease(granted=True, remaining_s=duration_s)

    def require(self, workspace: str, space_id: str, holder: str) -> None:
        """Raises FailedPrecondition unless the holder has the lease."""
        self._expire()
        held = self._held.get((workspace, space_id))
        if held is None or held.holder != holder:
            raise FailedPrecondition(
                f"{holder!r} does not hold the lease of space {space_id!r} of workspace "
                f"{workspace!r}; lease it, then list what the space still lacks",
                reason="LEASE_NOT_HELD",
            )

    def _expire(self) -> None:
        now = self._clock()
        for place in [place for place, held in self._held.items() if held.until <= now]:
            del self._held[place]
