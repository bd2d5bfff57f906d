"""What every engine owes its callers: documents."""

import asyncio
from datetime import UTC, datetime

import pytest

from chassis.errors import InvalidArgument, NotFound
from retriever_svc.documents import PassageVectors, UpsertOutcome
from retriever_svc.engine import RetrievalEngine
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)

ROWS = [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]]


async def test_a_stored_document_comes_back_whole(engine: RetrievalEngine) -> None:
    """Every field, typed metadata included, is read as it was given."""
    given = upsert(
        "contrat-7",
        ["premier", "second"],
        vectors=[passage_vectors([ROWS[0]], positions=[1])],
        title="Contrat d'été",
        keywords=("délai", "pénalité"),
        source_uri="file:///contrat.pdf",
        category="clients",
        language="fr",
        metadata={
            "week": 12.0,
            "site": "Le Havre",
            "open": True,
            "at": datetime(2024, 2, 29, 12, 30, 0, 123456, UTC),
        },
        version="2",
        valid_from=datetime(2024, 1, 1, tzinfo=UTC),
        valid_until=datetime(2025, 1, 1, tzinfo=UTC),
        superseded=True,
        chunking_profile="words",
    )
    await engine.upsert_document(given)
    stored = await engine.get_document("docs", "contrat-7", include_passages=True)

    assert stored.document == given.document
    assert stored.passage_count == 2
    assert tuple(passage.passage for passage in stored.passages) == given.passages
    assert [passage.space_ids for passage in stored.passages] == [(), (SPACE,)]


async def test_passages_without_a_vector_are_counted(engine: RetrievalEngine) -> None:
    """A document says how many of its passages no space holds, read or listed, its own only."""
    await engine.upsert_document(upsert("a", ["eau", "feu"]))
    await engine.upsert_document(upsert("b", ["air"], vectors=[passage_vectors(ROWS[:1])]))
    given = [passage_vectors([ROWS[0]], positions=[1])]
    await engine.upsert_document(upsert("c", ["sel", "or"], vectors=given))
    page = await engine.list_documents("docs", page_size=10, after=None)
    read = await engine.get_document("docs", "c", include_passages=False)

    assert [stored.awaiting_passage_count for stored in page.documents] == [2, 0, 1]
    assert read.awaiting_passage_count == 1


async def test_passages_are_read_only_when_asked_for(engine: RetrievalEngine) -> None:
    """A list of passages can be long."""
    await engine.upsert_document(upsert("a", ["eau"]))
    stored = await engine.get_document("docs", "a", include_passages=False)

    assert (stored.passages, stored.passage_count) == ((), 1)


async def test_a_missing_document_is_not_found(engine: RetrievalEngine) -> None:
    """The message names it."""
    with pytest.raises(NotFound, match="nowhere"):
        await engine.get_document("docs", "nowhere", include_passages=False)


async def test_equal_content_changes_nothing(engine: RetrievalEngine) -> None:
    """Outcome, seq, ids and counts of a repeated upsert stay."""
    given = upsert("a", ["eau", "feu"], vectors=[passage_vectors(ROWS[:2])])
    first = await engine.upsert_document(given)
    before = await engine.get_document("docs", "a", include_passages=True)
    again = await engine.upsert_document(given)
    after = await engine.get_document("docs", "a", include_passages=True)

    assert first.outcome is UpsertOutcome.CREATED
    assert again.outcome is UpsertOutcome.UNCHANGED
    assert (again.seq, again.passage_count, again.kept_vector_count) == (first.seq, 2, 2)
    assert after == before


async def test_fifty_equal_uploads_at_once_store_one_document(engine: RetrievalEngine) -> None:
    """Exactly one of them creates it."""
    given = upsert("a", ["eau"], vectors=[passage_vectors(ROWS[:1])])
    receipts = await asyncio.gather(*(engine.upsert_document(given) for _ in range(50)))
    described = await engine.describe_workspace("docs")

    outcomes = [receipt.outcome for receipt in receipts]
    assert outcomes.count(UpsertOutcome.CREATED) == 1
    assert outcomes.count(UpsertOutcome.UNCHANGED) == 49
    assert (described.document_count, described.passage_count) == (1, 1)


async def test_without_a_content_hash_nothing_counts_as_equal(engine: RetrievalEngine) -> None:
    """An empty fingerprint says nothing."""
    given = upsert("a", ["eau"], content_hash="")
    await engine.upsert_document(given)

    assert (await engine.upsert_document(given)).outcome is UpsertOutcome.REPLACED


async def test_changed_content_replaces_and_keeps_fitting_vectors(engine: RetrievalEngine) -> None:
    """Unchanged passages keep id and vector; the old text is found no more, the new one is."""
    await engine.upsert_document(
        upsert("a", ["eau douce", "feu vif", "air pur"], vectors=[passage_vectors(ROWS)])
    )
    before = await engine.get_document("docs", "a", include_passages=True)
    receipt = await engine.upsert_document(upsert("a", ["air pur", "terre noire", "eau douce"]))
    after = await engine.get_document("docs", "a", include_passages=True)
    ids = {passage.passage.text: passage.passage_id for passage in before.passages}
    by_text = {passage.passage.text: passage for passage in after.passages}
    hits = await engine.search_passages(request("feu terre", {SPACE: vector(0, 0, 1, 0)}))

    assert receipt.outcome is UpsertOutcome.REPLACED
    assert (receipt.kept_vector_count, receipt.awaiting_passage_count) == (2, 1)
    assert by_text["air pur"].passage_id == ids["air pur"]
    assert by_text["eau douce"].passage_id == ids["eau douce"]
    assert by_text["terre noire"].passage_id not in ids.values()
    assert [passage.space_ids for passage in after.passages] == [(SPACE,), (), (SPACE,)]
    assert set(found(hits)) == {"air pur", "terre noire", "eau douce"}
    assert [(r.space_id, r.hit_count) for r in hits.lists] == [(SPACE, 2), ("", 1)]
    assert {hit.passage.chunk_index for hit in hits.hits if hit.passage.text == "eau douce"} == {2}


async def test_a_changed_title_drops_the_vectors_it_was_embedded_in(
    engine: RetrievalEngine,
) -> None:
    """The text is the same, the embedded text is not: the vector would be wrong."""
    await engine.upsert_document(
        upsert(
            "a",
            ["eau"],
            title="Ancien",
            hashes=["Ancien+eau"],
            vectors=[passage_vectors([ROWS[0]])],
        )
    )
    receipt = await engine.upsert_document(
        upsert("a", ["eau"], title="Nouveau", hashes=["Nouveau+eau"])
    )
    result = await engine.search_passages(request("ancien", {SPACE: vector(1, 0, 0, 0)}))
    renamed = await engine.search_passages(request("nouveau"))

    assert (receipt.kept_vector_count, receipt.awaiting_passage_count) == (0, 1)
    assert [(ranked.space_id, ranked.hit_count) for ranked in result.lists] == [("", 0)]
    assert found(renamed) == ["eau"]


async def test_new_vectors_replace_old_ones(engine: RetrievalEngine) -> None:
    """A passage has one vector a space: the last one given."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([ROWS[0]])]))
    await engine.upsert_document(
        upsert("a", ["eau"], vectors=[passage_vectors([ROWS[1]])], version="2")
    )
    result = await engine.search_passages(request("x", {SPACE: vector(0, 2, 0, 0)}))

    assert [hit.space_scores[0].cosine for hit in result.hits] == [1.0]


async def test_vectors_that_come_later_complete_a_document(engine: RetrievalEngine) -> None:
    """Equal content with vectors for passages that have none: they are stored, the rest stays."""
    await engine.upsert_document(
        upsert("a", ["eau", "feu"], vectors=[passage_vectors([ROWS[0]], positions=[0])])
    )
    receipt = await engine.upsert_document(
        upsert("a", ["eau", "feu"], vectors=[passage_vectors([ROWS[2], ROWS[1]])])
    )
    result = await engine.search_passages(request("x", {SPACE: vector(1, 1, 0, 0)}))

    assert receipt.outcome is UpsertOutcome.REPLACED
    assert (receipt.awaiting_passage_count, receipt.kept_vector_count) == (0, 1)
    assert sorted(found(result)) == ["eau", "feu"]
    # The first passage kept its own vector, which lies as near as the second's.
    assert len({hit.space_scores[0].cosine for hit in result.hits}) == 1


async def test_a_second_space_completes_a_document(engine: RetrievalEngine) -> None:
    """The same content embedded by another model lives beside the first."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([ROWS[0]])]))
    await engine.upsert_document(
        upsert("a", ["eau"], vectors=[passage_vectors([ROWS[1]], OTHER_SPACE)])
    )
    stored = await engine.get_document("docs", "a", include_passages=True)

    assert stored.passages[0].space_ids == (SPACE, OTHER_SPACE)


async def test_deleting_makes_unfindable_at_once(engine: RetrievalEngine) -> None:
    """Neither words nor vector find it, and it cannot be read; a second deletion says so."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([ROWS[0]])]))
    await engine.upsert_document(upsert("b", ["feu"], vectors=[passage_vectors([ROWS[1]])]))
    removal = await engine.delete_document("docs", "a")
    result = await engine.search_passages(request("eau", {SPACE: vector(1, 0, 0, 0)}))
    again = await engine.delete_document("docs", "a")

    assert (removal.deleted, removal.passage_count) == (True, 1)
    assert (again.deleted, again.passage_count, again.seq) == (False, 0, removal.seq)
    # The lists hold it no more; it is not merely left out of the answer.
    assert [(r.space_id, r.hit_count) for r in result.lists] == [(SPACE, 1), ("", 0)]
    assert found(result) == ["feu"]
    with pytest.raises(NotFound):
        await engine.get_document("docs", "a", include_passages=False)


async def test_documents_are_listed_in_pages(engine: RetrievalEngine) -> None:
    """Every document once, ordered by id, though one page ends where another begins."""
    ids = [f"doc-{number:02}" for number in range(7)]
    for external_id in reversed(ids):
        await engine.upsert_document(upsert(external_id, ["eau"]))
    seen: list[str] = []
    sizes = []
    after = None
    while True:
        page = await engine.list_documents("docs", page_size=3, after=after)
        seen += [stored.document.external_id for stored in page.documents]
        sizes.append((len(page.documents), page.total_count))
        after = page.next_after
        if after is None:
            break

    assert seen == ids
    assert sizes == [(3, 7), (3, 7), (1, 7)]


async def test_a_document_without_passages_is_kept(engine: RetrievalEngine) -> None:
    """An empty file is a document too."""
    receipt = await engine.upsert_document(upsert("empty", []))
    stored = await engine.get_document("docs", "empty", include_passages=True)

    assert (receipt.passage_count, stored.passages) == (0, ())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0, 0, 0], [0, 0, 0, 0]], "passage 1 .* all zeros"),
        ([[float("nan"), 0, 0, 0], [1, 0, 0, 0]], "passage 0 .* not finite"),
        ([[1, 0, 0, 0], [float("inf"), 0, 0, 0]], "passage 1 .* not finite"),
    ],
)
async def test_unusable_vectors_are_refused_by_row(
    engine: RetrievalEngine, rows: list[list[float]], message: str
) -> None:
    """The passage is named and nothing of the document is stored."""
    with pytest.raises(InvalidArgument, match=message):
        await engine.upsert_document(upsert("a", ["eau", "feu"], vectors=[passage_vectors(rows)]))

    assert (await engine.describe_workspace("docs")).document_count == 0


async def test_a_space_has_one_width(engine: RetrievalEngine) -> None:
    """A vector of another width is refused, whichever document brings it."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([ROWS[0]])]))
    with pytest.raises(InvalidArgument, match=r"4 values.*3"):
        await engine.upsert_document(upsert("b", ["feu"], vectors=[passage_vectors([[1, 2, 3]])]))

    assert (await engine.describe_workspace("docs")).document_count == 1


async def test_vectors_must_name_passages_of_the_document(engine: RetrievalEngine) -> None:
    """More rows than passages, and positions beyond them, are refused."""
    too_many = passage_vectors(ROWS)
    beyond = passage_vectors([ROWS[0]], positions=[1])
    ragged = PassageVectors(SPACE, beyond.positions, too_many.vectors)
    for vectors in (too_many, beyond, ragged):
        with pytest.raises(InvalidArgument):
            await engine.upsert_document(upsert("a", ["eau"], vectors=[vectors]))


async def test_a_refused_document_takes_no_other_with_it(engine: RetrievalEngine) -> None:
    """Sent together with good ones, only the bad one fails."""
    bad = upsert("bad", ["eau"], vectors=[passage_vectors([[0, 0, 0, 0]])])
    good = [upsert(f"good-{number}", ["eau"]) for number in range(5)]
    outcomes = await asyncio.gather(
        *(engine.upsert_document(one) for one in (*good[:2], bad, *good[2:])),
        return_exceptions=True,
    )
    page = await engine.list_documents("docs", page_size=10, after=None)

    assert [isinstance(outcome, InvalidArgument) for outcome in outcomes].count(True) == 1
    assert [stored.document.external_id for stored in page.documents] == [
        f"good-{number}" for number in range(5)
    ]
