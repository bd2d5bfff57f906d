"""What every engine owes those who bring windows after the vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound
from retriever_svc.documents import PassageVectors
from retriever_svc.engine import RetrievalEngine
from retriever_svc.spaces import AwaitingPage, AwaitingPassage, PassageKey, WindowsPutRequest
from tests.fakes.retrieval import OTHER_SPACE, SPACE, passage_vectors, request, upsert, vector

EAST, NORTH = [1.0, 0, 0, 0], [0, 1.0, 0, 0]


async def awaiting(engine: RetrievalEngine, space_id: str = SPACE, **page: Any) -> AwaitingPage:
    """Returns what awaits windows in a space."""
    asked = {"page_size": 500, "after": None, **page}
    return await engine.list_passages_awaiting("docs", space_id, windows=True, **asked)


def put_request(
    passages: Sequence[AwaitingPassage],
    counts: Sequence[int],
    rows: Sequence[Sequence[float]],
    space_id: str = SPACE,
    **options: Any,
) -> WindowsPutRequest:
    """Returns a request that brings these windows."""
    keys = tuple(PassageKey(one.passage_id, one.passage.embedded_text_hash) for one in passages)
    vectors = np.array(rows, np.float32).reshape(-1, 4)
    return WindowsPutRequest("docs", space_id, keys, np.array(counts, np.int64), vectors, **options)


async def best_windows(engine: RetrievalEngine, text: str) -> dict[str, float | None]:
    """Returns the best-window cosine of each passage that a search by EAST finds."""
    result = await engine.search_passages(request(text, {SPACE: vector(*EAST)}))
    return {hit.passage.text: hit.space_scores[0].best_window_cosine for hit in result.hits}


async def test_passages_without_a_count_of_windows_await_them(engine: RetrievalEngine) -> None:
    """One without a vector does not, nor one whose count came, be it 0."""
    counted = PassageVectors(
        SPACE,
        np.array([0, 1]),
        np.array([NORTH, NORTH], np.float32),
        np.array([1, 0]),
        np.array([EAST], np.float32),
    )
    await engine.upsert_document(upsert("a", ["eau", "feu"], vectors=[counted], title="A"))
    some = passage_vectors([NORTH, NORTH], positions=[0, 2])
    await engine.upsert_document(upsert("b", ["terre", "air", "vent"], vectors=[some], title="B"))
    first = await awaiting(engine, page_size=1)
    last = await awaiting(engine, page_size=1, after=first.next_after)

    assert [(p.passage.text, p.document_title) for p in first.passages] == [("terre", "B")]
    assert [p.passage.text for p in last.passages] == ["vent"]
    assert (first.awaiting_count, last.next_after) == (2, None)
    assert (await awaiting(engine, OTHER_SPACE)).passages == ()


async def test_windows_put_later_count_in_searches(engine: RetrievalEngine) -> None:
    """Acknowledged means scored; nobody awaits them any more, and repeating changes nothing."""
    await engine.upsert_document(
        upsert("a", ["eau", "feu"], vectors=[passage_vectors([NORTH, NORTH])])
    )
    asked = put_request((await awaiting(engine)).passages, [2, 0], [NORTH, [4, 0, 0, 0]])
    before = await best_windows(engine, "eau")
    receipt = await engine.put_windows(asked)
    again = await engine.put_windows(asked)

    assert before == {"eau": None, "feu": None}
    assert (receipt.stored_count, receipt.outdated_count) == (2, 0)
    assert again.stored_count == 2
    assert await best_windows(engine, "eau") == {"eau": pytest.approx(1.0), "feu": None}
    assert (await awaiting(engine)).passages == ()


async def test_windows_of_what_changed_meanwhile_are_left_out(engine: RetrievalEngine) -> None:
    """Deleted, of another text, or without a vector in the space: told apart from the others."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([NORTH])]))
    await engine.upsert_document(upsert("b", ["feu"], vectors=[passage_vectors([NORTH])]))
    await engine.upsert_document(upsert("c", ["air"], vectors=[passage_vectors([NORTH])]))
    passages = (await awaiting(engine)).passages
    await engine.delete_document("docs", "a")
    await engine.upsert_document(
        upsert("b", ["feu"], vectors=[passage_vectors([NORTH])], hashes=["of another title"])
    )
    receipt = await engine.put_windows(put_request(passages, [1, 1, 1], [EAST] * 3))
    nowhere = await engine.put_windows(put_request(passages[2:], [1], [EAST], space_id=OTHER_SPACE))

    assert (receipt.stored_count, receipt.outdated_count) == (1, 2)
    assert (nowhere.stored_count, nowhere.outdated_count) == (0, 1)
    assert await best_windows(engine, "air") == {"air": pytest.approx(1.0), "feu": None}


async def test_unchanged_passages_keep_their_windows_when_a_document_changes(
    engine: RetrievalEngine,
) -> None:
    """Also where there are none; only the new passage awaits some."""
    await engine.upsert_document(
        upsert("a", ["eau", "feu"], vectors=[passage_vectors([NORTH, NORTH])])
    )
    await engine.put_windows(put_request((await awaiting(engine)).passages, [1, 0], [EAST]))
    new = passage_vectors([NORTH], positions=[0])
    await engine.upsert_document(upsert("a", ["air", "eau", "feu"], vectors=[new]))

    assert [one.passage.text for one in (await awaiting(engine)).passages] == ["air"]
    assert (await best_windows(engine, "eau"))["eau"] == pytest.approx(1.0)


async def test_wrong_windows_are_refused(engine: RetrievalEngine) -> None:
    """Another width, a row of zeros, counts that do not fit, a passage twice, no workspace."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([NORTH])]))
    passages = (await awaiting(engine)).passages
    narrow = WindowsPutRequest(
        "docs", SPACE, put_request(passages, [1], [EAST]).passages,
        np.array([1]), np.ones((1, 3), np.float32),
    )  # fmt: skip

    for asked in (
        narrow,
        put_request(passages, [1], [[0, 0, 0, 0]]),
        put_request(passages, [2], [EAST]),
        put_request(passages, [1, 1], [EAST, EAST]),
        put_request(passages * 2, [1, 1], [EAST, EAST]),
    ):
        with pytest.raises(InvalidArgument):
            await engine.put_windows(asked)
    with pytest.raises(FailedPrecondition):
        await engine.put_windows(put_request(passages, [1], [EAST], lease_holder="nobody"))
    with pytest.raises(NotFound):
        await engine.list_passages_awaiting("none", SPACE, windows=True, page_size=1, after=None)
    assert len((await awaiting(engine)).passages) == 1
