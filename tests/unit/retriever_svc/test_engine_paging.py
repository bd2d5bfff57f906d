"""What every engine owes its callers: pages and groups over one window of candidates."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever_svc.documents import Document, Passage
from retriever_svc.engine import RetrievalEngine
from retriever_svc.explanations import ExplanationRequest, PassageOutcome
from retriever_svc.searches import PassageHit, SearchRequest
from retriever_svc.searching.candidate_scores import CandidateScores
from retriever_svc.searching.hit_selection import selected
from retriever_svc.thresholds import Threshold
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, upsert, vector

NORTH = vector(1, 0, 0, 0)


async def _fill(engine: RetrievalEngine) -> None:
    """Six documents of three passages each; near ones of different documents alternate."""
    for document in range(6):
        rows = [[1, 0.05 * document + 0.3 * place, 0, 0] for place in range(3)]
        texts = [f"navire {document} {place}" for place in range(3)]
        await engine.upsert_document(upsert(f"d{document}", texts, vectors=[passage_vectors(rows)]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"passages_per_document": 2},
        {"group_by_document": True},
        {"group_by_document": True, "passages_per_document": 2},
        {"thresholds": (Threshold(SPACE, 0.9),)},
    ],
    ids=["plain", "bounded", "grouped", "grouped and bounded", "judged"],
)
async def test_pages_are_the_whole_in_parts(
    engine: RetrievalEngine, options: dict[str, Any]
) -> None:
    """No duplicate, no gap, the same ranks and total; the page after the last is empty."""
    await _fill(engine)
    search = {"candidate_count": 12, **options}
    whole = await engine.search_passages(request("navire", {SPACE: NORTH}, **search))
    documents = {hit.document.external_id for hit in whole.hits}
    assert whole.total_count == len(documents if "group_by_document" in options else whole.hits)
    for size in (1, 4, 7, 100):
        told: list[tuple[int, str]] = []
        for offset in range(0, whole.total_count + size, size):
            page = await engine.search_passages(
                request("navire", {SPACE: NORTH}, offset=offset, limit=size, **search)
            )
            assert (page.total_count, page.window_cut) == (whole.total_count, whole.window_cut)
            assert bool(page.hits) == (offset < whole.total_count)
            told += [(hit.fused_rank, hit.passage.text) for hit in page.hits]
        assert told == [(hit.fused_rank, hit.passage.text) for hit in whole.hits]


async def test_groups_stand_at_the_place_of_their_best_passage(engine: RetrievalEngine) -> None:
    """Passages of a document come together, best first; the limit counts documents."""
    await _fill(engine)
    plain = await engine.search_passages(request("absent", {SPACE: NORTH}, candidate_count=18))
    grouped = await engine.search_passages(
        request("absent", {SPACE: NORTH}, candidate_count=18, group_by_document=True, limit=2)
    )

    assert [hit.document.external_id for hit in plain.hits[:7]] == [
        *("d0", "d1", "d2", "d3", "d4", "d5"),
        "d0",
    ]
    assert found(grouped) == [f"navire {one} {place}" for one in (0, 1) for place in range(3)]
    assert [hit.fused_rank for hit in grouped.hits] == sorted(
        hit.fused_rank for hit in plain.hits if hit.document.external_id == "d0"
    ) + sorted(hit.fused_rank for hit in plain.hits if hit.document.external_id == "d1")
    assert grouped.total_count == 6


async def test_the_end_of_the_window_is_told(engine: RetrievalEngine) -> None:
    """More may match where a list was cut; nothing more where every list ended by itself."""
    await _fill(engine)
    cut = await engine.search_passages(request("navire", {SPACE: NORTH}, candidate_count=5))
    whole = await engine.search_passages(request("navire", {SPACE: NORTH}, candidate_count=19))
    beyond = await engine.search_passages(
        request("navire", {SPACE: NORTH}, candidate_count=5, offset=10)
    )

    assert cut.window_cut
    assert cut.total_count == len(cut.hits) < 18
    assert (whole.window_cut, whole.total_count) == (False, 18)
    assert (beyond.hits, beyond.total_count) == ((), cut.total_count)


async def test_a_passage_of_an_earlier_page_is_explained(engine: RetrievalEngine) -> None:
    """As standing before the offset, not as missing."""
    await _fill(engine)
    search = request("absent", {SPACE: NORTH}, offset=2, limit=2, passages_per_document=1)

    async def outcome(external_id: str) -> PassageOutcome:
        answer = await engine.explain_passages(ExplanationRequest(search, external_id=external_id))
        return answer.passages[0].outcome

    assert [await outcome(f"d{one}") for one in range(6)] == [
        *[PassageOutcome.BEFORE_OFFSET] * 2,
        *[PassageOutcome.RETURNED] * 2,
        *[PassageOutcome.OVER_LIMIT] * 2,
    ]


def _hits(documents: Sequence[int]) -> list[tuple[PassageHit, CandidateScores]]:
    return [
        (
            PassageHit(
                passage_id=place,
                passage=Passage(place, "x"),
                document=Document(f"d{document}"),
                updated_at=datetime(2024, 5, 1, tzinfo=UTC),
                fused_rank=place + 1,
                fused_score=1 / (place + 1),
                places=(),
                space_scores=(),
                bm25_score=0.0,
            ),
            CandidateScores((), 0.0),
        )
        for place, document in enumerate(documents)
    ]


@given(
    documents=st.lists(st.integers(0, 4), max_size=25),
    bound=st.none() | st.integers(1, 3),
    grouped=st.booleans(),
    sizes=st.lists(st.integers(1, 6), min_size=26, max_size=26),
)
def test_pages_of_any_sizes_make_the_whole(
    documents: list[int], bound: int | None, grouped: bool, sizes: list[int]
) -> None:
    """Whatever the sizes of the pages; bounds hold over all pages, groups are never split."""

    def ids(offset: int, limit: int | None) -> list[int]:
        search = SearchRequest(
            "docs",
            (),
            offset=offset,
            limit=limit,
            passages_per_document=bound,
            group_by_document=grouped,
        )
        return [hit.passage_id for hit in selected(_hits(documents), search).hits]

    whole = ids(0, None)
    pages, offset = [], 0
    for size in sizes:
        pages.append(ids(offset, size))
        offset += size

    assert [one for page in pages for one in page] == whole
    assert len(set(whole)) == len(whole)
    for document in set(documents):
        of_document = [one for one in whole if documents[one] == document]
        assert of_document == sorted(of_document)
        assert len(of_document) == min(documents.count(document), bound or 25)
        if grouped:
            assert sum(any(one in page for one in of_document) for page in pages) == 1
