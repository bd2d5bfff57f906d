"""Two vector spaces in one workspace: a few passages in the second must not spoil the first."""

import numpy as np

from retriever_svc.engine import RetrievalEngine
from retriever_svc.searches import SearchMode, SearchResult
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    unit_rows,
    upsert,
)

COUNT = 200
WIDTH = 16
ROWS = unit_rows(COUNT, WIDTH, seed=11)
# So far from their passage that some queries miss it.
QUERIES = ROWS + 0.15 * np.random.default_rng(12).standard_normal(ROWS.shape).astype(np.float32)
STRAY_ROWS = unit_rows(5, WIDTH, seed=13)


async def _fill(engine: RetrievalEngine) -> None:
    """The strays come first: every tie goes to the smaller id."""
    strays = passage_vectors(STRAY_ROWS.tolist(), OTHER_SPACE)
    await engine.upsert_document(
        upsert("strays", [f"égaré {name}" for name in "abcde"], vectors=[strays])
    )
    full = passage_vectors(ROWS.tolist())
    await engine.upsert_document(
        upsert("full", [f"passage {n}" for n in range(COUNT)], vectors=[full])
    )


async def _asked(
    engine: RetrievalEngine, number: int, *, both: bool, words: str = "absent"
) -> SearchResult:
    """Asks for passage `number`; in the other space the question is nearest to a stray."""
    vectors = {SPACE: QUERIES[number]}
    if both:
        vectors[OTHER_SPACE] = STRAY_ROWS[number % 5]
    return await engine.search_passages(request(words, vectors, mode=SearchMode.HYBRID))


async def test_five_strays_cost_less_than_a_point_of_hit_at_1(engine: RetrievalEngine) -> None:
    """Although each query finds a perfect stray, and ties would go to the strays."""
    await _fill(engine)
    hits = {False: 0, True: 0}
    for number in range(COUNT):
        for both in hits:
            result = await _asked(engine, number, both=both)
            hits[both] += result.hits[0].passage.text == f"passage {number}"

    assert 0.5 < hits[False] / COUNT < 1
    assert (hits[False] - hits[True]) / COUNT < 0.01


async def test_a_space_that_is_down_leaves_the_others_answer(engine: RetrievalEngine) -> None:
    """Without a vector for the strays' space, the rest is found in the same order."""
    await _fill(engine)
    for number in range(0, COUNT, 20):
        whole = await _asked(engine, number, both=True, words=f"passage {number}")
        without = await _asked(engine, number, both=False, words=f"passage {number}")
        rest = [text for text in found(whole) if not text.startswith("égaré")]

        assert rest == found(without)
        assert [ranked.space_id for ranked in without.lists] == [SPACE, ""]


async def test_a_full_second_space_counts_like_the_first(engine: RetrievalEngine) -> None:
    """A passage in both has a place in each list, and appears once."""
    both = [passage_vectors(ROWS.tolist()), passage_vectors(ROWS.tolist(), OTHER_SPACE)]
    await engine.upsert_document(
        upsert("both", [f"passage {n}" for n in range(COUNT)], vectors=both)
    )
    result = await engine.search_passages(
        request("absent", {SPACE: ROWS[3], OTHER_SPACE: ROWS[3]}, candidate_count=50)
    )
    ids = [hit.passage_id for hit in result.hits]

    assert result.hits[0].passage.text == "passage 3"
    assert len(set(ids)) == len(ids) == 50
    assert {tuple(place.list_index for place in hit.places) for hit in result.hits} == {(0, 1)}
    assert {len({place.rank for place in hit.places}) for hit in result.hits} == {1}
