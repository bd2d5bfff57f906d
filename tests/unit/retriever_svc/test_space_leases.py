"""Leases of the work on a space, by a clock that the test moves."""

import pytest

from chassis.errors import FailedPrecondition
from retriever_svc.space_leases import SpaceLeases
from retriever_svc.spaces import SpaceLease
from tests.fakes.clock import FakeClock


def test_a_lease_runs_out_unless_it_is_prolonged() -> None:
    """The holder may prolong it; nobody else gets it before its end, anybody after."""
    clock = FakeClock()
    leases = SpaceLeases(clock)
    leases.lease("docs", "s", "first", 10)
    clock.now += 6
    prolonged = leases.lease("docs", "s", "first", 10)
    clock.now += 6
    refused = leases.lease("docs", "s", "second", 10)
    clock.now += 4
    granted = leases.lease("docs", "s", "second", 10)

    assert prolonged == SpaceLease(granted=True, remaining_s=10)
    assert refused == SpaceLease(granted=False, remaining_s=4)
    assert granted.granted


def test_only_the_holder_gives_a_lease_back() -> None:
    """Somebody else's return changes nothing."""
    leases = SpaceLeases(FakeClock())
    leases.lease("docs", "s", "first", 10)
    leases.lease("docs", "s", "second", 0)
    leases.require("docs", "s", "first")
    leases.lease("docs", "s", "first", 0)

    with pytest.raises(FailedPrecondition, match="does not hold the lease"):
        leases.require("docs", "s", "first")
