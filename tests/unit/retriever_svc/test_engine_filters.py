"""What every engine owes its callers: filtered searches and thresholds with conditions."""

import asyncio

import pytest

from chassis.errors import NotFound
from retriever_svc.engine import RetrievalEngine
from retriever_svc.filters import Equals, FieldExists, Filter, InRange, Negation
from retriever_svc.fusion_settings import FusionChoices
from retriever_svc.searches import SearchMode
from retriever_svc.thresholds import Threshold
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)

NORTH = vector(1, 0, 0, 0)
POLICIES = Equals("category", "policies")


async def _fill(engine: RetrievalEngine) -> None:
    """Twenty notes nearer to the query by words and vector than the two policies."""
    uploads = [
        upsert(
            f"note-{index:02}",
            ["navire navire"],
            vectors=[passage_vectors([[1, 0.01 * index, 0, 0]])],
            category="notes",
        )
        for index in range(20)
    ]
    far = passage_vectors([[0.5, 1, 0, 0], [0, 0, 1, 0]])
    texts = ["le navire de la douane", "un navire parmi tant d'autres mots"]
    uploads += [
        upsert("p", texts, vectors=[far], category="policies", metadata={"year": 2023.0}),
        upsert("q", ["navire sans vecteur"], category="policies"),
    ]
    await asyncio.gather(*map(engine.upsert_document, uploads))


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_every_list_is_filtered(engine: RetrievalEngine, mode: SearchMode) -> None:
    """All passages of the part are found, however far down they stand among all."""
    await _fill(engine)
    result = await engine.search_passages(
        request("navire", {SPACE: NORTH}, mode=mode, filter=POLICIES, candidate_count=3)
    )

    assert {hit.document.external_id for hit in result.hits} == {"p", "q"}
    assert len(result.hits) == 3
    assert all(ranked.exact for ranked in result.lists)


async def test_a_space_counts_by_its_share_of_the_part(engine: RetrievalEngine) -> None:
    """Two of the three policies have a vector: the first place counts like place 3 / 2."""
    await _fill(engine)
    result = await engine.search_passages(
        request("navire", {SPACE: NORTH}, filter=POLICIES, fusion=FusionChoices(lexical_weight=0.0))
    )

    assert result.hits[0].fused_score == pytest.approx(1 / (60 + 3 / 2))


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (InRange("metadata.year", at_least=2023.0), 2),
        (InRange("metadata.year", less_than=2023.0), 0),
        (Negation(FieldExists("metadata.year")), 21),
        (Equals("category", "unknown"), 0),
    ],
)
async def test_as_many_hits_as_there_are(
    engine: RetrievalEngine, condition: Filter, count: int
) -> None:
    """No hit is lost, and an empty part is no error."""
    await _fill(engine)
    for mode in SearchMode:
        result = await engine.search_passages(
            request("navire", {SPACE: NORTH}, mode=mode, filter=condition, candidate_count=50)
        )
        assert len(result.hits) == count


async def test_a_dense_search_leaves_the_unreached_of_the_part_to_bm25(
    engine: RetrievalEngine,
) -> None:
    """Also where another space is queried than the one that holds them."""
    await _fill(engine)
    other = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("r", ["quai"], vectors=[other], category="policies"))
    result = await engine.search_passages(
        request("navire", {OTHER_SPACE: NORTH}, mode=SearchMode.DENSE, filter=POLICIES)
    )

    assert {hit.document.external_id for hit in result.hits} == {"p", "q", "r"}
    assert [ranked.hit_count for ranked in result.lists] == [1, 3]


async def test_changes_are_filtered_at_once(engine: RetrievalEngine) -> None:
    """A part is never remembered beyond the state it was made of."""
    await _fill(engine)
    search = request("navire", {SPACE: NORTH}, filter=Equals("superseded", True))
    assert found(await engine.search_passages(search)) == []

    await engine.upsert_document(upsert("q", ["navire ancien"], superseded=True))
    assert found(await engine.search_passages(search)) == ["navire ancien"]

    await engine.delete_document("docs", "q")
    assert found(await engine.search_passages(search)) == []


async def test_conditions_that_python_finds_equal_are_kept_apart(engine: RetrievalEngine) -> None:
    """A truth value is no number, in what is remembered too."""
    await engine.upsert_document(upsert("n", ["navire"], metadata={"x": 1.0}))
    await engine.upsert_document(upsert("t", ["navire"], metadata={"x": True}))
    for value, expected in ((1.0, "n"), (True, "t"), (1.0, "n")):
        result = await engine.search_passages(request("navire", filter=Equals("metadata.x", value)))
        assert [hit.document.external_id for hit in result.hits] == [expected]


async def test_a_threshold_judges_only_what_fulfils_its_condition(engine: RetrievalEngine) -> None:
    """The far policies go; far notes would have stayed."""
    await _fill(engine)
    everything = await engine.search_passages(
        request("navire", {SPACE: vector(0, 0, 0, 1)}, candidate_count=50)
    )
    judged = await engine.search_passages(
        request(
            "navire",
            {SPACE: vector(0, 0, 0, 1)},
            candidate_count=50,
            thresholds=(Threshold(SPACE, 0.4, condition=POLICIES),),
        )
    )

    assert len(everything.hits) == 23
    # The one without a vector has no cosine; it holds all terms of the question.
    assert [
        hit.document.external_id for hit in judged.hits if hit.document.category != "notes"
    ] == ["q"]
    assert len(judged.hits) == 21


async def test_documents_that_fulfil_a_condition_are_listed_in_pages(
    engine: RetrievalEngine,
) -> None:
    """Each once, by id, and all of them counted on every page; the others are as if not there."""
    await _fill(engine)
    seen: list[str] = []
    sizes = []
    after = None
    while True:
        page = await engine.find_documents("docs", Negation(POLICIES), page_size=8, after=after)
        seen += [stored.document.external_id for stored in page.documents]
        sizes.append((len(page.documents), page.total_count))
        after = page.next_after
        if after is None:
            break
    found = await engine.find_documents("docs", POLICIES, page_size=1, after=None)
    none = await engine.find_documents("docs", Equals("category", "?"), page_size=8, after=None)

    assert seen == [f"note-{index:02}" for index in range(20)]
    assert sizes == [(8, 20), (8, 20), (4, 20)]
    assert [(one.document.external_id, one.passage_count) for one in found.documents] == [("p", 2)]
    assert (found.next_after, found.total_count) == ("p", 2)
    assert (none.documents, none.next_after, none.total_count) == ((), None, 0)
    with pytest.raises(NotFound):
        await engine.find_documents("other", POLICIES, page_size=8, after=None)
