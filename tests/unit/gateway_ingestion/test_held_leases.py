"""Whoever works on a space holds its lease from the first to the last moment, and no longer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from chassis.errors import Unavailable
from gateway.ingestion.movers.space_leases import LEASE_S, SpaceBusy, leased
from gateway.spaces import SpaceLease
from tests.fakes.idle_spaces import IdleSpaces


@dataclass
class LeaseDesk(IdleSpaces):
    """Notes the seconds that were asked for; the answers to come are in `answers`."""

    answers: list[SpaceLease | Unavailable] = field(default_factory=list)
    asked: asyncio.Queue[float] = field(default_factory=asyncio.Queue)

    async def lease_space(
        self,
        workspace: str,
        space_id: str,
        holder: str,
        duration_s: float,
        *,
        timeout: float | None = None,
    ) -> SpaceLease:
        """Gives the next answer; grants where there is none."""
        self.asked.put_nowait(duration_s)
        answer = self.answers.pop(0) if self.answers else SpaceLease(True, duration_s)
        if isinstance(answer, Unavailable):
            raise answer
        return answer


async def test_a_lease_is_prolonged_while_the_work_lasts_and_then_given_back() -> None:
    """A retriever that is lost meanwhile does not end the prolonging."""
    desk = LeaseDesk(answers=[SpaceLease(True, LEASE_S), Unavailable("starting")])
    async with leased(desk, "w", "s", "me", renewal_s=0.0):
        inside = [await desk.asked.get() for _ in range(4)]
    while not desk.asked.empty():
        last = desk.asked.get_nowait()

    assert inside == [LEASE_S] * 4
    assert last == 0.0


async def test_a_lease_of_somebody_else_is_not_touched() -> None:
    """It is neither prolonged nor given back, and its end is told."""
    desk = LeaseDesk(answers=[SpaceLease(False, 7.0)])
    with pytest.raises(SpaceBusy) as busy:
        async with leased(desk, "w", "s", "me", renewal_s=0.0):
            pass

    assert busy.value.remaining_s == 7.0
    assert desk.asked.qsize() == 1


async def test_a_lease_that_cannot_be_given_back_hides_no_error_of_the_work() -> None:
    """It runs out by itself."""
    desk = LeaseDesk(answers=[SpaceLease(True, LEASE_S), Unavailable("lost")])
    with pytest.raises(ValueError, match="of the work"):
        async with leased(desk, "w", "s", "me"):
            raise ValueError("of the work")

    assert desk.asked.qsize() == 2
