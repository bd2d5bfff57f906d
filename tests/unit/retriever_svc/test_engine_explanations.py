"""What every engine owes its callers: why a passage is, or is not, among the hits."""

import asyncio

import pytest

from chassis.errors import NotFound
from retriever_svc.engine import RetrievalEngine
from retriever_svc.explanations import ExplanationRequest, PassageExplanation, PassageOutcome
from retriever_svc.filters import Equals
from retriever_svc.searches import QueryVariant, SearchRequest
from retriever_svc.thresholds import Threshold
from tests.fakes.retrieval import SPACE, passage_vectors, request, upsert, vector

NORTH = vector(1, 0, 0, 0)


async def _fill(engine: RetrievalEngine) -> None:
    """Thirty notes, each a little farther than the one before, and one without a vector."""
    uploads = [
        upsert(
            f"n{index:02}",
            ["navire " * (1 + index) + "quai"],
            vectors=[passage_vectors([[1, 0.1 * index, 0, 0]])],
            category="notes",
        )
        for index in range(30)
    ]
    uploads.append(upsert("w", ["navire douane douane"], category="words"))
    await asyncio.gather(*map(engine.upsert_document, uploads))


async def explained(
    engine: RetrievalEngine, external_id: str, search: SearchRequest
) -> PassageExplanation:
    """Explains the only passage of a document."""
    answer = await engine.explain_passages(ExplanationRequest(search, external_id=external_id))
    (passage,) = answer.passages
    assert passage.external_id == external_id
    return passage


async def test_a_hit_is_explained_as_the_search_shows_it(engine: RetrievalEngine) -> None:
    """Ranks, contributions and scores are those of the hit; terms add up to its BM25 score."""
    await _fill(engine)
    search = request("navire à la douane", {SPACE: NORTH})
    result = await engine.search_passages(search)
    for hit in (result.hits[0], result.hits[-1]):
        answer = await engine.explain_passages(
            ExplanationRequest(search, passage_id=hit.passage_id)
        )
        (passage,) = answer.passages
        contributions = {
            (result.lists[place.list_index].space_id, place.rank): place.contribution
            for place in hit.places
        }
        assert passage.outcome is PassageOutcome.RETURNED
        assert (passage.fused_rank, passage.fused_score) == (hit.fused_rank, hit.fused_score)
        assert contributions == {
            (standing.space_id, standing.rank): standing.contribution
            for standing in passage.standings
            if standing.contribution
        }
        assert passage.space_scores == hit.space_scores
        assert sum(term.weight for term in passage.matched_terms) == pytest.approx(
            hit.bm25_score, rel=1e-5
        )


async def test_a_place_says_what_the_list_and_the_fusion_count(engine: RetrievalEngine) -> None:
    """Its score is that of its wording; its rank grows by N / n in a space that holds n of N."""
    await _fill(engine)
    first, second = QueryVariant("navire", vectors={SPACE: NORTH}), QueryVariant("quai")
    search = SearchRequest("docs", (first, second), candidate_count=40)
    passage = await explained(engine, "n04", search)

    dense, lexical, other_wording = passage.standings
    assert dense.rank == 5
    assert dense.effective_rank == pytest.approx(5 * 31 / 30)
    assert dense.score == pytest.approx(passage.space_scores[0].cosine)
    assert lexical.score == pytest.approx(passage.bm25_score)
    assert lexical.effective_rank == lexical.rank
    assert other_wording.variant_index == 1
    assert 0 < other_wording.score != pytest.approx(lexical.score)
    for standing in passage.standings:
        assert standing.contribution == pytest.approx(1 / (60 + standing.effective_rank))


async def test_terms_are_weighed_apart(engine: RetrievalEngine) -> None:
    """The rare and frequent one leads; a term the passage lacks is missing."""
    await _fill(engine)
    passage = await explained(engine, "w", request("navire douane quai"))

    assert [term.term for term in passage.matched_terms] == ["douan", "nav"]


async def test_a_passage_beyond_the_lists_shows_its_true_rank(engine: RetrievalEngine) -> None:
    """Nothing is returned of it, and every list says how far down it stands."""
    await _fill(engine)
    search = request("quai", {SPACE: NORTH}, candidate_count=5)
    passage = await explained(engine, "n29", search)

    assert passage.outcome is PassageOutcome.IN_NO_LIST
    assert "first 5" in passage.detail
    assert (passage.fused_rank, passage.fused_score) == (None, None)
    assert [(one.space_id, one.contribution) for one in passage.standings] == [
        (SPACE, 0.0),
        ("", 0.0),
    ]
    assert passage.standings[0].rank == 30
    assert passage.standings[1].rank > 5


async def test_the_filter_is_named_and_ranks_are_those_without_it(engine: RetrievalEngine) -> None:
    """The best passage of all would have led."""
    await _fill(engine)
    search = request("quai", {SPACE: NORTH}, filter=Equals("category", "words"))
    passage = await explained(engine, "n00", search)

    assert passage.outcome is PassageOutcome.FILTERED_OUT
    assert passage.detail == "the filter wants category 'words', and the document has 'notes'"
    assert passage.standings[0].rank == 1
    assert passage.fused_rank is None
    kept = await explained(engine, "w", request("douane", filter=Equals("category", "words")))
    assert kept.outcome is PassageOutcome.RETURNED


async def test_the_threshold_is_named_with_both_numbers(engine: RetrievalEngine) -> None:
    """The score judged, the space and the bound."""
    await _fill(engine)
    search = request(
        "quai", {SPACE: NORTH}, candidate_count=50, thresholds=(Threshold(SPACE, 0.9),)
    )
    passage = await explained(engine, "n29", search)

    assert (passage.outcome, passage.threshold_index) == (PassageOutcome.UNDER_THRESHOLD, 0)
    cosine = passage.space_scores[0].cosine
    assert passage.detail == (
        f"thresholds[0]: its cosine {cosine:.4f} in space {SPACE} is under 0.9000"
    )


async def test_cuts_after_fusion_are_told_apart(engine: RetrievalEngine) -> None:
    """The limit, and the bound for each document; found passages come in fused order."""
    await _fill(engine)
    vectors = passage_vectors([[0, 0, 1, 0], [0.1, 0, 1, 0], [0.2, 0, 1, 0]])
    await engine.upsert_document(upsert("d", ["x", "y", "z"], vectors=[vectors]))
    search = request(
        "absent", {SPACE: vector(0, 0, 1, 0)}, passages_per_document=2, limit=3, candidate_count=9
    )
    answer = await engine.explain_passages(ExplanationRequest(search, external_id="d"))

    assert [(one.chunk_index, one.outcome) for one in answer.passages] == [
        (0, PassageOutcome.RETURNED),
        (1, PassageOutcome.RETURNED),
        (2, PassageOutcome.OVER_DOCUMENT_BOUND),
    ]
    result = await engine.search_passages(search)
    assert len(result.hits) == 3
    beyond = await explained(engine, "n05", request("absent", {SPACE: NORTH}, limit=2))
    assert beyond.outcome is PassageOutcome.OVER_LIMIT
    assert beyond.fused_rank == 6


async def test_what_is_not_there_is_not_explained(engine: RetrievalEngine) -> None:
    """Neither an unknown document nor an unknown passage."""
    for target in (
        ExplanationRequest(request("x"), external_id="none"),
        ExplanationRequest(request("x"), passage_id=10**17),
    ):
        with pytest.raises(NotFound, match=r"no document|no passage"):
            await engine.explain_passages(target)
