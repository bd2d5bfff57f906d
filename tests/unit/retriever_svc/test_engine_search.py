"""What every engine owes its callers: search."""

import math

import pytest

from chassis.errors import InvalidArgument
from retriever_svc.engine import RetrievalEngine
from retriever_svc.searches import SearchMode
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    unit_rows,
    upsert,
    vector,
)

NORTH = vector(1, 0, 0, 0)


async def _fill(engine: RetrievalEngine) -> None:
    """Five passages: words and vectors disagree about what is near."""
    rows: list[list[float]] = [[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    texts = ["navire rapide", "cargo lent", "navire ancien", "douane maritime"]
    await engine.upsert_document(upsert("a", texts, vectors=[passage_vectors(rows)]))
    await engine.upsert_document(upsert("b", ["navire en attente de vecteur"]))


async def test_every_score_is_there_whichever_list_found_the_passage(
    engine: RetrievalEngine,
) -> None:
    """Cosine for lexical hits, BM25 for dense ones, list ranks only from lists that hold it."""
    await _fill(engine)
    result = await engine.search_passages(request("navire", {SPACE: NORTH}, candidate_count=2))
    hits = {hit.passage.text: hit for hit in result.hits}

    assert [(ranked.space_id, ranked.hit_count) for ranked in result.lists] == [(SPACE, 2), ("", 2)]
    assert [place.list_index for place in hits["navire rapide"].places] == [0, 1]
    assert [place.list_index for place in hits["cargo lent"].places] == [0]
    assert hits["cargo lent"].bm25_score == 0
    assert hits["cargo lent"].space_scores[0].cosine == pytest.approx(0.9 / math.hypot(0.9, 0.1))
    assert [place.list_index for place in hits["navire ancien"].places] == [1]
    assert hits["navire ancien"].space_scores[0].cosine == pytest.approx(0, abs=1e-6)
    assert hits["navire ancien"].bm25_score > 0


async def test_bm25_is_computed_where_its_list_was_too_short(engine: RetrievalEngine) -> None:
    """A dense hit that holds the word scores above 0 though the BM25 list missed it."""
    await _fill(engine)
    result = await engine.search_passages(request("navire", {SPACE: NORTH}, candidate_count=1))
    full = await engine.search_passages(request("navire", {SPACE: NORTH}))
    short_scores = {hit.passage.text: hit.bm25_score for hit in result.hits}
    full_scores = {hit.passage.text: hit.bm25_score for hit in full.hits}

    for text, score in short_scores.items():
        assert score == pytest.approx(full_scores[text], rel=1e-5)


async def test_fused_order_and_contributions_add_up(engine: RetrievalEngine) -> None:
    """The score is the sum of the places; ranks count from 1; effective ranks follow the space."""
    await _fill(engine)
    result = await engine.search_passages(request("navire", {SPACE: NORTH}))
    first = result.hits[0]

    assert first.passage.text == "navire rapide"
    assert [hit.fused_rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    for hit in result.hits:
        assert hit.fused_score == pytest.approx(sum(p.contribution for p in hit.places))
    # The space holds 4 of 5 passages.
    assert first.places[0].contribution == pytest.approx(1 / (60 + 5 / 4))


async def test_awaiting_passages_are_found_by_words(engine: RetrievalEngine) -> None:
    """A passage without a vector takes part; its cosine is absent, not zero."""
    await _fill(engine)
    result = await engine.search_passages(request("attente", {SPACE: NORTH}))
    waiting = next(hit for hit in result.hits if hit.document.external_id == "b")

    assert waiting.space_scores == ()
    assert waiting.bm25_score > 0


async def test_dense_mode_leaves_bm25_to_passages_without_vectors(
    engine: RetrievalEngine,
) -> None:
    """BM25 lists only what the queried space does not hold."""
    await _fill(engine)
    result = await engine.search_passages(request("navire", {SPACE: NORTH}, mode=SearchMode.DENSE))
    lexical = [
        hit.passage.text
        for hit in result.hits
        if any(result.lists[place.list_index].space_id == "" for place in hit.places)
    ]

    assert lexical == ["navire en attente de vecteur"]
    assert result.hits[0].passage.text == "navire rapide"


async def test_dense_mode_with_all_vectors_makes_no_bm25_list(engine: RetrievalEngine) -> None:
    """Nothing is left for BM25 to answer, though its scores are still given."""
    await engine.upsert_document(upsert("a", ["navire"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    result = await engine.search_passages(request("navire", {SPACE: NORTH}, mode=SearchMode.DENSE))

    assert [ranked.space_id for ranked in result.lists] == [SPACE]
    assert result.hits[0].bm25_score > 0


async def test_dense_mode_without_a_query_vector_is_answered_by_bm25(
    engine: RetrievalEngine,
) -> None:
    """With the embedder lost, words alone answer, for all passages."""
    await _fill(engine)
    result = await engine.search_passages(request("navire", mode=SearchMode.DENSE))

    assert len(result.hits) == 3
    assert [ranked.space_id for ranked in result.lists] == [""]


async def test_dense_mode_reaches_the_passages_of_an_unqueried_space(
    engine: RetrievalEngine,
) -> None:
    """A space without a query vector is left to BM25, its passages included."""
    await engine.upsert_document(upsert("a", ["navire"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    other = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["navire gris"], vectors=[other]))
    result = await engine.search_passages(request("navire", {SPACE: NORTH}, mode=SearchMode.DENSE))

    assert sorted(found(result)) == ["navire", "navire gris"]
    assert [(r.space_id, r.hit_count) for r in result.lists] == [(SPACE, 1), ("", 1)]


async def test_lexical_mode_makes_no_dense_list(engine: RetrievalEngine) -> None:
    """Only words decide; cosines are still given."""
    await _fill(engine)
    result = await engine.search_passages(request("cargo", {SPACE: NORTH}, mode=SearchMode.LEXICAL))

    assert found(result) == ["cargo lent"]
    assert result.hits[0].space_scores[0].cosine > 0.9


async def test_a_query_without_matching_words_finds_nothing(engine: RetrievalEngine) -> None:
    """Nothing is returned with a score of zero."""
    await _fill(engine)
    for text in ("xyzzyq", "de la", "!!!"):
        assert found(await engine.search_passages(request(text))) == []


async def test_outdated_spaces_are_answered_by_words_alone(engine: RetrievalEngine) -> None:
    """The answer says so and names the spaces to embed for."""
    await _fill(engine)
    current = (await engine.describe_workspace("docs")).spaces_version
    outdated = await engine.search_passages(
        request("navire", {SPACE: NORTH}, spaces_version=current - 1)
    )
    fitting = await engine.search_passages(
        request("navire", {SPACE: NORTH}, spaces_version=current)
    )

    assert outdated.spaces_outdated
    assert not fitting.spaces_outdated
    assert [ranked.space_id for ranked in outdated.lists] == [""]
    assert [space.space_id for space in outdated.spaces] == [SPACE]
    assert outdated.spaces_version == current
    assert len(found(outdated)) == 3


async def test_stray_passages_of_a_second_space_do_not_lead(engine: RetrievalEngine) -> None:
    """Three passages in another space rank behind what the full space finds."""
    rows = unit_rows(60, 4, seed=3)
    await engine.upsert_document(
        upsert("full", [f"texte {n}" for n in range(60)], vectors=[passage_vectors(rows.tolist())])
    )
    strays = passage_vectors([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("strays", ["un", "deux", "trois"], vectors=[strays]))
    query = {SPACE: rows[7], OTHER_SPACE: NORTH}
    result = await engine.search_passages(request("zzz", query))
    strangers = [hit.fused_rank for hit in result.hits if hit.document.external_id == "strays"]

    assert strangers == [21, 22, 23]
    assert found(result)[0] == "texte 7"


async def test_a_passage_in_two_spaces_counts_once_a_list(engine: RetrievalEngine) -> None:
    """It appears once, with a place and a cosine from each space."""
    vectors = [passage_vectors([[1, 0, 0, 0]]), passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)]
    await engine.upsert_document(upsert("a", ["eau"], vectors=vectors))
    result = await engine.search_passages(request("eau", {SPACE: NORTH, OTHER_SPACE: NORTH}))

    assert len(result.hits) == 1
    assert [place.rank for place in result.hits[0].places] == [1, 1, 1]
    assert [score.space_id for score in result.hits[0].space_scores] == [SPACE, OTHER_SPACE]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (vector(1, 0, 0), "3 values.*4"),
        (vector(0, 0, 0, 0), "all zeros"),
        (vector(1, math.nan, 0, 0), "not finite"),
    ],
)
async def test_unusable_query_vectors_are_refused(
    engine: RetrievalEngine, query: object, message: str
) -> None:
    """Width, zeros and values that are not finite are named."""
    await _fill(engine)
    with pytest.raises(InvalidArgument, match=message):
        await engine.search_passages(request("eau", {SPACE: query}))  # type: ignore[dict-item]


async def test_an_empty_workspace_finds_nothing(engine: RetrievalEngine) -> None:
    """No hits, no ids of -1, no error; vectors of spaces that do not exist find nothing."""
    result = await engine.search_passages(request("eau", {SPACE: NORTH}, candidate_count=200))

    assert (result.hits, [ranked.space_id for ranked in result.lists]) == ((), [""])
