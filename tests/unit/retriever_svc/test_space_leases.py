"""Leases of the work on a space, by a clock that the test moves."""

from pathlib import Path

import pytest

from chassis.errors import FailedPrecondition
from retriever_svc.space_leases import SpaceLeases
from retriever_svc.spaces import PassageKey, SpaceLease, VectorsPutRequest
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.clock import FakeClock
from tests.fakes.embedded_engines import opened
from tests.fakes.retrieval import SPACE, passage_vectors, upsert


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


async def test_a_restart_takes_vectors_from_nobody_who_has_not_leased_anew(tmp_path: Path) -> None:
    """The one who held the space before is refused, also when somebody else has it by now."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["eau"]))
        page = await engine.list_passages_awaiting("docs", SPACE, page_size=1, after=None)
        [one] = page.passages
        await engine.lease_space("docs", SPACE, "first", 60)
    key = PassageKey(one.passage_id, one.passage.embedded_text_hash)
    refused: list[str] = []
    async with opened(tmp_path) as engine:

        async def put(holder: str) -> int:
            rows = passage_vectors([[1, 0, 0, 0]])
            request = VectorsPutRequest("docs", (key,), rows, lease_holder=holder)
            try:
                return (await engine.put_vectors(request)).stored_count
            except FailedPrecondition as error:
                refused.append(error.reason)
                return 0

        before = await put("first")
        await engine.lease_space("docs", SPACE, "second", 60)
        prolonged = await engine.lease_space("docs", SPACE, "first", 60)
        stored = [await put(holder) for holder in ("first", "second")]

    assert refused == ["LEASE_NOT_HELD"] * 2
    assert (before, prolonged.granted, stored) == (0, False, [0, 1])
