"""One process at a time does what a name stands for."""

import asyncio

from tests.unit.gateway_jobs.conftest import LEASE_S, Desk


async def test_one_of_many_gets_a_lease(desk: Desk) -> None:
    """Also when all ask at once for a name that nobody has asked for before."""
    got = await asyncio.gather(
        *(desk.leases.acquire("moving/w", f"holder-{n}", LEASE_S) for n in range(5))
    )

    assert len([lease for lease in got if lease is not None]) == 1


async def test_a_lease_changes_hands_when_it_is_over(desk: Desk) -> None:
    """Not while it is renewed; its token grows, and the old holder can renew it no more."""
    first = await desk.leases.acquire("moving/w", "a", LEASE_S)
    assert first is not None
    desk.clock.now += LEASE_S - 1
    assert await desk.leases.renew(first, LEASE_S)
    desk.clock.now += LEASE_S - 1
    assert await desk.leases.acquire("moving/w", "b", LEASE_S) is None
    desk.clock.now += 2

    second = await desk.leases.acquire("moving/w", "b", LEASE_S)

    assert second is not None
    assert second.token > first.token
    assert not await desk.leases.renew(first, LEASE_S)
    await desk.leases.release(first)
    assert await desk.leases.renew(second, LEASE_S)


async def test_a_released_lease_is_free_at_once(desk: Desk) -> None:
    """Names do not disturb each other."""
    lease = await desk.leases.acquire("moving/w", "a", LEASE_S)
    assert lease is not None
    assert await desk.leases.acquire("moving/v", "b", LEASE_S) is not None

    await desk.leases.release(lease)

    desk.clock.now += 0.001
    assert await desk.leases.acquire("moving/w", "b", LEASE_S) is not None
