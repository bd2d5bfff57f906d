from __future__ import annotations

import asyncio

from gateway.access.identity import (
    ANONYMOUS,
    Identity,
    acting_as,
    bind_identity,
    current_actor,
    current_identity,
)


def test_a_call_without_a_key_has_an_actor_all_the_same() -> None:
    """Records name somebody also where nobody is known."""
    assert current_identity() is None
    assert current_actor() == ANONYMOUS


def test_an_actor_is_named_by_prefix_and_name() -> None:
    """Two keys of one name are told apart in records."""
    with acting_as(Identity("jst_4f1c09ab", "nightly import")):
        assert current_actor() == "jst_4f1c09ab (nightly import)"
    assert current_actor() == ANONYMOUS


async def test_an_identity_stays_with_its_task_and_those_it_starts() -> None:
    """Calls that are served at once do not take each other's identity."""

    async def actor_as_bound(name: str) -> str:
        bind_identity(Identity(f"jst_{name}", name))
        await asyncio.sleep(0)
        return await asyncio.create_task(_actor())

    names = ["first", "second", "third"]

    actors = await asyncio.gather(*(asyncio.create_task(actor_as_bound(name)) for name in names))

    assert actors == [f"jst_{name} ({name})" for name in names]


async def _actor() -> str:
    return current_actor()
