"""What every engine owes its callers: the options of a search."""

import math

import pytest

from retriever_svc.documents import PassageVectors
from retriever_svc.engine import RetrievalEngine
from retriever_svc.fusion_settings import FusionChoices
from retriever_svc.searches import QueryVariant, SearchRequest
from retriever_svc.thresholds import Threshold
from tests.fakes.retrieval import (
    SPACE,
    found,
    passage_vectors,
    request,
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


async def test_variants_bring_lists_of_their_own_weight(engine: RetrievalEngine) -> None:
    """Scores are those of the first wording; a weight of 0 makes no list."""
    await _fill(engine)
    variants = (
        QueryVariant("douane"),
        QueryVariant("navire", weight=0.5),
        QueryVariant("cargo", weight=0.0),
    )
    result = await engine.search_passages(SearchRequest("docs", variants))
    hits = {hit.passage.text: hit for hit in result.hits}

    assert [ranked.variant_index for ranked in result.lists] == [0, 1]
    assert result.hits[0].passage.text == "douane maritime"
    assert hits["navire rapide"].bm25_score == 0
    assert "cargo lent" not in hits
    contributions = [place.contribution for hit in result.hits for place in hit.places]
    assert contributions == [pytest.approx(1 / 61)] + [
        pytest.approx(0.5 / (60 + rank)) for rank in (1, 2, 3)
    ]


async def test_a_variant_may_weigh_its_bm25_list_by_itself(engine: RetrievalEngine) -> None:
    """0 leaves it out, and the vectors' list stays; or the other way round."""
    await _fill(engine)
    variants = (
        QueryVariant("douane", 0.0, {SPACE: NORTH}, lexical_weight=1.0),
        QueryVariant("cargo", 0.5, {SPACE: NORTH}, lexical_weight=0.0),
    )
    lists = (await engine.search_passages(SearchRequest("docs", variants))).lists

    assert [(each.variant_index, each.space_id, each.weight) for each in lists] == [
        (0, "", 1.0),
        (1, SPACE, 0.5),
    ]


async def test_list_weights_and_rank_constant_are_applied(engine: RetrievalEngine) -> None:
    """Weight 0 leaves a kind of list out; the constant is that of the formula."""
    await _fill(engine)
    dense_only = await engine.search_passages(
        request("navire", {SPACE: NORTH}, fusion=FusionChoices(1.0, lexical_weight=0.0))
    )
    lexical_only = await engine.search_passages(
        request(
            "navire", {SPACE: NORTH}, fusion=FusionChoices(dense_weight=0.0, lexical_weight=2.0)
        )
    )

    assert [ranked.space_id for ranked in dense_only.lists] == [SPACE]
    assert dense_only.hits[0].fused_score == pytest.approx(1 / (1 + 5 / 4))
    assert [ranked.space_id for ranked in lexical_only.lists] == [""]
    assert lexical_only.hits[0].fused_score == pytest.approx(2 / 61)


async def test_the_limit_cuts_after_fusion(engine: RetrievalEngine) -> None:
    """The first hits are the same with and without it."""
    await _fill(engine)
    everything = await engine.search_passages(request("navire", {SPACE: NORTH}))
    cut = await engine.search_passages(request("navire", {SPACE: NORTH}, limit=2))

    assert found(cut) == found(everything)[:2]
    assert [hit.bm25_score for hit in cut.hits] == [hit.bm25_score for hit in everything.hits[:2]]


async def test_passages_per_document_are_bounded(engine: RetrievalEngine) -> None:
    """The best ones of each document stay; others move up to the limit."""
    await _fill(engine)
    result = await engine.search_passages(
        request("navire", {SPACE: NORTH}, passages_per_document=1, limit=2)
    )

    assert [hit.document.external_id for hit in result.hits] == ["a", "b"]
    assert result.hits[0].passage.text == "navire rapide"


async def test_thresholds_drop_what_is_judged_too_far(engine: RetrievalEngine) -> None:
    """A lexical hit is judged by its own cosine, a passage without one by its terms."""
    await _fill(engine)
    result = await engine.search_passages(
        request("navire", {SPACE: NORTH}, thresholds=(Threshold(SPACE, 0.95),))
    )

    assert found(result)[0] == "navire rapide"
    assert set(found(result)) == {"navire rapide", "cargo lent", "navire en attente de vecteur"}


async def test_a_threshold_may_hold_for_one_context_only(engine: RetrievalEngine) -> None:
    """Only documents whose metadata equals the request's value are judged, types included."""
    rows = [[0, 1, 0, 0]]
    for week in (12.0, 13.0, True):
        await engine.upsert_document(
            upsert(
                f"week-{week}", ["stock"], metadata={"week": week}, vectors=[passage_vectors(rows)]
            )
        )
    judged = (Threshold(SPACE, 0.5, context_field="week"),)
    result = await engine.search_passages(
        request("stock", {SPACE: NORTH}, thresholds=judged, context={"week": 12.0})
    )

    assert sorted(hit.document.external_id for hit in result.hits) == ["week-13.0", "week-True"]


async def test_windows_give_the_best_cosine_of_a_part(engine: RetrievalEngine) -> None:
    """Where a passage has windows, the best of them is told beside its own cosine."""
    windowed = PassageVectors(
        SPACE,
        positions=passage_vectors([[1, 1, 0, 0]]).positions,
        vectors=passage_vectors([[1, 1, 0, 0]]).vectors,
        window_counts=passage_vectors([[0]]).positions + 2,
        window_vectors=passage_vectors([[3, 0, 0, 0], [0, 5, 0, 0]]).vectors,
    )
    await engine.upsert_document(upsert("a", ["eau"], vectors=[windowed]))
    await engine.upsert_document(upsert("b", ["feu"], vectors=[passage_vectors([[0, 1, 0, 0]])]))
    result = await engine.search_passages(request("eau", {SPACE: NORTH}))
    scores = {hit.passage.text: hit.space_scores[0] for hit in result.hits}

    assert scores["eau"].cosine == pytest.approx(math.sqrt(0.5))
    assert scores["eau"].best_window_cosine == pytest.approx(1.0)
    assert scores["feu"].best_window_cosine is None


async def test_windows_go_with_their_vector(engine: RetrievalEngine) -> None:
    """A passage that gets a vector without windows has none any more."""
    windowed = PassageVectors(
        SPACE,
        positions=passage_vectors([[1, 0, 0, 0]]).positions,
        vectors=passage_vectors([[1, 0, 0, 0]]).vectors,
        window_counts=passage_vectors([[0]]).positions + 1,
        window_vectors=passage_vectors([[1, 0, 0, 0]]).vectors,
    )
    await engine.upsert_document(upsert("a", ["eau"], vectors=[windowed]))
    await engine.upsert_document(
        upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])], version="2")
    )
    result = await engine.search_passages(request("eau", {SPACE: NORTH}))

    assert result.hits[0].space_scores[0].best_window_cosine is None
