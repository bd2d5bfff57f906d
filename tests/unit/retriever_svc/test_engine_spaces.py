"""What every engine owes those who move passages between spaces."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound
from retriever_svc.documents import PassageVectors
from retriever_svc.engine import RetrievalEngine
from retriever_svc.spaces import AwaitingPassage, PassageKey, VectorsPutRequest
from retriever_svc.workspaces import Space
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)

CANARY = vector(1, 0, 0, 0)


async def awaiting(engine: RetrievalEngine, space_id: str = SPACE) -> list[AwaitingPassage]:
    """Returns all that a space lacks."""
    page = await engine.list_passages_awaiting("docs", space_id, page_size=500, after=None)
    return list(page.passages)


def put_request(
    passages: Sequence[AwaitingPassage],
    rows: Sequence[Sequence[float]],
    space_id: str = SPACE,
    **options: Any,
) -> VectorsPutRequest:
    """Returns a request that brings one row for each passage."""
    keys = tuple(PassageKey(one.passage_id, one.passage.embedded_text_hash) for one in passages)
    return VectorsPutRequest("docs", keys, passage_vectors(rows, space_id), **options)


async def space_of(engine: RetrievalEngine, space_id: str = SPACE) -> Space:
    """Returns the description of a space."""
    described = await engine.describe_workspace("docs")
    return next(space for space in described.spaces if space.space_id == space_id)


async def test_what_a_space_lacks_is_listed_in_pages(engine: RetrievalEngine) -> None:
    """Passages come once each, with title and spaces; the first page counts them all."""
    one = passage_vectors([[1, 0, 0, 0]], OTHER_SPACE, positions=[1])
    document = upsert("a", ["eau", "feu", "air"], vectors=[one], title="Les éléments")
    await engine.upsert_document(document)
    first = await engine.list_passages_awaiting("docs", SPACE, page_size=2, after=None)
    last = await engine.list_passages_awaiting("docs", SPACE, page_size=2, after=first.next_after)
    seen = [*first.passages, *last.passages]

    assert [(p.passage.text, p.space_ids) for p in seen] == [
        ("eau", ()),
        ("feu", (OTHER_SPACE,)),
        ("air", ()),
    ]
    assert {p.document_title for p in seen} == {"Les éléments"}
    assert (first.awaiting_count, last.awaiting_count, last.next_after) == (3, 0, None)
    assert len(await awaiting(engine, OTHER_SPACE)) == 2


async def test_vectors_put_later_are_found_and_waited_for_no_longer(
    engine: RetrievalEngine,
) -> None:
    """Acknowledged means findable by the vector; repeating the step stores the same."""
    await engine.upsert_document(upsert("a", ["eau", "feu"]))
    asked = put_request(await awaiting(engine), [[1, 0, 0, 0], [0, 1, 0, 0]])
    receipt = await engine.put_vectors(asked)
    result = await engine.search_passages(request("rien", {SPACE: vector(0, 2, 0, 0)}, limit=1))
    again = await engine.put_vectors(asked)

    assert (receipt.stored_count, receipt.outdated_count) == (2, 0)
    assert found(result) == ["feu"]
    assert await awaiting(engine) == []
    assert (again.stored_count, (await space_of(engine)).passage_count) == (2, 2)


async def test_a_passage_that_changed_meanwhile_takes_no_old_vector(
    engine: RetrievalEngine,
) -> None:
    """Vectors made for a text that is gone, or is another one, are left out and counted."""
    await engine.upsert_document(upsert("a", ["eau", "feu"]))
    asked = put_request(await awaiting(engine), [[1, 0, 0, 0], [0, 1, 0, 0]])
    await engine.upsert_document(upsert("a", ["eau", "vent"]))
    receipt = await engine.put_vectors(asked)
    retitled = upsert("a", ["eau", "vent"], hashes=["hash of another title", "hash of vent"])
    await engine.upsert_document(retitled)
    renamed = await engine.put_vectors(asked)
    await engine.delete_document("docs", "a")
    nothing = await engine.put_vectors(asked)

    assert (receipt.stored_count, receipt.outdated_count) == (1, 1)
    assert (renamed.stored_count, renamed.outdated_count) == (0, 2)
    assert (nothing.stored_count, nothing.outdated_count) == (0, 2)


async def test_a_space_that_is_filled_beside_another_rests_until_the_switch(
    engine: RetrievalEngine,
) -> None:
    """What is preferred is searched, and so is what holds a passage that the preferred lacks."""
    both = [[1.0, 0, 0, 0], [0, 1.0, 0, 0]]
    await engine.upsert_document(upsert("a", ["eau", "feu"], vectors=[passage_vectors(both)]))
    lacking = await awaiting(engine, OTHER_SPACE)
    await engine.put_vectors(put_request(lacking[:1], both[:1], OTHER_SPACE))
    filling = await engine.describe_workspace("docs")
    with pytest.raises(FailedPrecondition, match="lacks 1 of 2"):
        await engine.switch_space("docs", OTHER_SPACE, require_complete=True)
    await engine.put_vectors(put_request(lacking[1:], both[1:], OTHER_SPACE))
    switch = await engine.switch_space("docs", OTHER_SPACE, require_complete=True)
    switched = await engine.describe_workspace("docs")
    undone = await engine.switch_space("docs", SPACE, require_complete=True)
    after = await engine.describe_workspace("docs")

    assert {space.space_id: space.resting for space in filling.spaces} == {
        SPACE: False,
        OTHER_SPACE: True,
    }
    assert (switch.previous_space_id, switch.awaiting_count) == (SPACE, 0)
    assert switch.spaces_version == switched.spaces_version == filling.spaces_version + 1
    assert {space.space_id: space.resting for space in switched.spaces} == {
        SPACE: True,
        OTHER_SPACE: False,
    }
    assert (undone.previous_space_id, after.preferred_space_id) == (OTHER_SPACE, SPACE)


async def test_a_space_with_a_passage_of_its_own_is_searched(engine: RetrievalEngine) -> None:
    """It rests, and the version counts up, as soon as the preferred space has that passage."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    stray = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["feu"], vectors=[stray]))
    before, version = await space_of(engine, OTHER_SPACE), await version_of(engine)
    await engine.put_vectors(put_request(await awaiting(engine), [[0, 1, 0, 0]]))
    after = await space_of(engine, OTHER_SPACE)

    assert (before.resting, before.stray_count) == (False, 1)
    assert (after.resting, after.stray_count) == (True, 0)
    assert await version_of(engine) == version + 1


async def version_of(engine: RetrievalEngine) -> int:
    """Returns the version of the list of spaces."""
    return (await engine.describe_workspace("docs")).spaces_version


async def test_moved_passages_leave_the_other_space(engine: RetrievalEngine) -> None:
    """The space they came from is gone with its last vector, in the same step."""
    stray = passage_vectors([[1, 0, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    await engine.upsert_document(upsert("b", ["feu"], vectors=[stray]))
    asked = put_request(
        await awaiting(engine), [[0, 1, 0, 0]], left_space_ids=(OTHER_SPACE, SPACE, "none")
    )
    await engine.put_vectors(asked)
    described = await engine.describe_workspace("docs")

    assert [(space.space_id, space.passage_count) for space in described.spaces] == [(SPACE, 2)]


async def test_only_a_resting_space_can_be_dropped(engine: RetrievalEngine) -> None:
    """What searches need stays; what was dropped is gone, and dropping it again is no error."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    stray = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["feu"], vectors=[stray]))
    for space_id, reason in ((SPACE, "SPACE_PREFERRED"), (OTHER_SPACE, "SPACE_NEEDED")):
        with pytest.raises(FailedPrecondition) as refused:
            await engine.drop_space("docs", space_id)
        assert refused.value.reason == reason
    await engine.put_vectors(put_request(await awaiting(engine), [[0, 1, 0, 0]]))
    removal = await engine.drop_space("docs", OTHER_SPACE)
    again = await engine.drop_space("docs", OTHER_SPACE)
    described = await engine.describe_workspace("docs")

    assert (removal.vector_count, again.vector_count) == (1, 0)
    assert removal.spaces_version == again.spaces_version == described.spaces_version
    assert [space.space_id for space in described.spaces] == [SPACE]


async def test_passages_that_only_a_dropped_space_held_wait_and_are_found_by_words(
    engine: RetrievalEngine,
) -> None:
    """Only where that was asked for; the preferred space is never dropped."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    stray = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["feu"], vectors=[stray]))
    removal = await engine.drop_space("docs", OTHER_SPACE, leave_waiting=True)
    with pytest.raises(FailedPrecondition) as refused:
        await engine.drop_space("docs", SPACE, leave_waiting=True)
    described = await engine.describe_workspace("docs")
    left = await awaiting(engine)

    assert removal.vector_count == 1
    assert [space.space_id for space in described.spaces] == [SPACE]
    assert [(one.passage.text, one.space_ids) for one in left] == [("feu", ())]
    assert refused.value.reason == "SPACE_PREFERRED"


async def test_the_first_canary_is_kept_and_another_model_refused(
    engine: RetrievalEngine,
) -> None:
    """A space without one takes the first that comes; vectors of a drifted model are not stored."""
    rows = np.array([[1, 0, 0, 0]], np.float32)
    positions = np.array([0], np.int64)

    def given(canary: Any) -> PassageVectors:
        return PassageVectors(SPACE, positions, rows, canary=canary)

    await engine.upsert_document(upsert("a", ["eau"], vectors=[given(None)]))
    unknown = await space_of(engine)
    await engine.upsert_document(upsert("b", ["feu"], vectors=[given(3 * CANARY)]))
    kept = await space_of(engine)
    await engine.upsert_document(upsert("c", ["air"], vectors=[given(vector(1, 0.01, 0, 0))]))
    with pytest.raises(FailedPrecondition) as refused:
        await engine.upsert_document(upsert("d", ["or"], vectors=[given(vector(1, 0.1, 0, 0))]))
    with pytest.raises(InvalidArgument, match="canary"):
        await engine.upsert_document(upsert("e", ["fer"], vectors=[given(vector(1, 0))]))

    assert unknown.canary == b""
    assert np.frombuffer(kept.canary, "<f4").tolist() == CANARY.tolist()
    assert (await space_of(engine)).canary == kept.canary
    assert refused.value.reason == "SPACE_DRIFTED"
    assert (await engine.describe_workspace("docs")).document_count == 3


async def test_one_holder_at_a_time_works_on_a_space(engine: RetrievalEngine) -> None:
    """Vectors of somebody who does not hold the lease are refused; other spaces are free."""
    await engine.upsert_document(upsert("a", ["eau"]))
    lacking, rows = await awaiting(engine), [[1.0, 0, 0, 0]]
    first = await engine.lease_space("docs", SPACE, "first", 60)
    second = await engine.lease_space("docs", SPACE, "second", 60)
    elsewhere = await engine.lease_space("docs", OTHER_SPACE, "second", 60)
    with pytest.raises(FailedPrecondition) as refused:
        await engine.put_vectors(put_request(lacking, rows, lease_holder="second"))
    stored = await engine.put_vectors(put_request(lacking, rows, lease_holder="first"))
    await engine.lease_space("docs", SPACE, "first", 0)
    freed = await engine.lease_space("docs", SPACE, "second", 60)

    assert (first.granted, second.granted, elsewhere.granted) == (True, False, True)
    assert refused.value.reason == "LEASE_NOT_HELD"
    assert (stored.stored_count, freed.granted) == (1, True)


async def test_vectors_and_passages_must_fit_each_other(engine: RetrievalEngine) -> None:
    """A passage named twice would have two vectors."""
    await engine.upsert_document(upsert("a", ["eau"]))
    twice = (await awaiting(engine)) * 2

    with pytest.raises(InvalidArgument, match="each passage once"):
        await engine.put_vectors(put_request(twice, [[1, 0, 0, 0]] * 2))


async def test_unknown_names_are_not_found(engine: RetrievalEngine) -> None:
    """A workspace that is not there, for every call, and a space to switch to."""
    key = PassageKey(1, "")
    calls = (
        engine.list_passages_awaiting("none", SPACE, page_size=1, after=None),
        engine.put_vectors(VectorsPutRequest("none", (key,), passage_vectors([[1, 0, 0, 0]]))),
        engine.lease_space("none", SPACE, "me", 1),
        engine.switch_space("none", SPACE, require_complete=False),
        engine.drop_space("none", SPACE),
        engine.switch_space("docs", "none", require_complete=False),
    )
    for call in calls:
        with pytest.raises(NotFound, match="none"):
            await call
