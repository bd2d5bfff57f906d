"""Which passages of a document are embedded, and what is told of those that are not."""

from chassis.errors import ResourceExhausted
from gateway.incoming_files import IngestionOutcome
from gateway.ingestion.document_ingestion import INCOMPLETE
from tests.fakes.chained_embedder import FIRST, SECOND
from tests.fakes.ingestion_desk import LONG, Desk


async def test_windows_are_stored_and_kept_with_unchanged_passages(desk: Desk) -> None:
    """A change costs the windows of the passage that changed."""
    desk.embedder.windows_recommended = True
    await desk.take_in(LONG)
    counts, before = desk.store.window_counts["w", "guide.md"], len(desk.embedder.embedded())
    await desk.take_in(LONG.replace("La phrase 3", "La nouvelle phrase 3"))

    assert counts == [21] * 4
    # The passages, and the three wordings of windows that each has.
    assert before == 4 * (1 + 3)
    assert desk.store.window_counts["w", "guide.md"] == counts
    assert len(desk.embedder.embedded()) == before + 1 + 3


async def test_lost_windows_are_told(desk: Desk) -> None:
    """The document is whole and searchable without them."""
    desk.embedder.windows_recommended = True
    desk.embedder.lasts = {FIRST: 1}
    report = await desk.take_in(LONG)

    assert report.awaiting_passage_count == 0
    assert report.space_id == FIRST
    assert (
        "without all their windows, ranked by their whole text meanwhile: 4" in report.warnings[0]
    )


async def test_a_passage_that_no_model_takes_is_stored_and_named(desk: Desk) -> None:
    """It is found by its words; the others get their vectors, now and when it is sent again."""
    desk.embedder.refused = {"phrase 2"}
    report = await desk.take_in(LONG)
    calls = len(desk.embedder.calls)
    again = await desk.take_in(LONG)
    desk.embedder.refused = set()
    completed = await desk.take_in(LONG)

    assert (report.passage_count, report.awaiting_passage_count) == (4, 1)
    assert desk.store.upserts[0].content_hash.endswith(INCOMPLETE)
    assert "words: 1 (passage 2: " in report.warnings[0]
    assert (again.outcome, again.warnings) == (IngestionOutcome.UNCHANGED, report.warnings)
    assert len(desk.embedder.calls[calls][0]) == 1
    assert (completed.outcome, completed.awaiting_passage_count) == (IngestionOutcome.REPLACED, 0)
    assert desk.store.spaces("w", "guide.md") == [(FIRST,)] * 4


async def test_many_refused_passages_are_named_in_few_words(desk: Desk) -> None:
    """The first five, and how many more."""
    desk.embedder.refused = {"phrase"}
    report = await desk.take_in(LONG.replace("Partie", "Rubrique") * 2)

    assert "words: 8 (passage 0: " in report.warnings[0]
    assert report.warnings[0].endswith("; and 3 more)")


async def test_without_an_embedder_passages_wait_and_the_same_file_completes_them(
    desk: Desk,
) -> None:
    """The document is stored and the report says what lacks; later the vectors follow."""
    desk.embedder.lost = {FIRST, SECOND}
    report = await desk.take_in(LONG)
    waiting = await desk.take_in(LONG)
    desk.embedder.lost = set()
    completed = await desk.take_in(LONG)
    again = await desk.take_in(LONG)

    assert report.outcome is IngestionOutcome.CREATED
    assert (report.passage_count, report.awaiting_passage_count) == (4, 4)
    assert "4 (no provider answers)" in report.warnings[0]
    assert desk.store.upserts[0].content_hash.endswith(INCOMPLETE)
    assert (waiting.outcome, waiting.awaiting_passage_count) == (IngestionOutcome.UNCHANGED, 4)
    assert waiting.warnings == report.warnings
    assert (completed.outcome, completed.awaiting_passage_count) == (IngestionOutcome.REPLACED, 0)
    assert completed.warnings == ()
    assert again.outcome is IngestionOutcome.UNCHANGED


async def test_an_outage_does_not_cut_a_document_in_other_places(desk: Desk) -> None:
    """The rate of tokens is remembered, so that unchanged passages keep their vectors."""
    desk.embedder.tokens_per_character = 0.5
    await desk.take_in(LONG)
    desk.embedder.lost = {FIRST, SECOND}
    report = await desk.take_in(LONG, category="expéditions")

    assert report.kept_vector_count == report.passage_count > 4
    assert report.awaiting_passage_count == 0
    assert report.warnings == ()


async def test_a_workspace_s_space_is_asked_for_first(desk: Desk) -> None:
    """Also where the chain would have answered in another."""
    desk.store.add_workspace("w", preferred=SECOND)

    report = await desk.take_in()

    assert report.space_id == SECOND
    assert [space for _, space in desk.embedder.calls] == [SECOND]


async def test_a_changed_file_embeds_only_what_changed(desk: Desk) -> None:
    """Passages of other parts keep their vectors."""
    await desk.take_in(LONG)
    before = len(desk.embedder.embedded())
    report = await desk.take_in(LONG.replace("La phrase 3", "La nouvelle phrase 3"))

    assert before == report.passage_count == 4
    assert report.outcome is IngestionOutcome.REPLACED
    assert report.kept_vector_count == 3
    assert len(desk.embedder.embedded()) == before + 1
    assert desk.store.spaces("w", "guide.md") == [(FIRST,)] * 4


async def test_a_document_too_large_to_be_read_back_is_embedded_anew(desk: Desk) -> None:
    """Its stored passages do not fit into one answer: costly, but right."""
    await desk.take_in(LONG)
    desk.store.passages_error = ResourceExhausted("message over 16 MiB")

    report = await desk.take_in(LONG, category="x")

    assert report.outcome is IngestionOutcome.REPLACED
    assert len(desk.embedder.embedded()) == 8


async def test_slices_and_cuts_are_named_by_passage(desk: Desk) -> None:
    """Whoever reads the report can look at them; many are named in few words."""
    desk.embedder.sliced_over = 1_500
    report = await desk.take_in(f"# Un\n\nCourt.\n\n# Deux\n\n{'x' * 9_000}", language="fr")
    many = await desk.take_in("x" * 30_000, name="many.md", language="fr")
    stored = await desk.store.get_document("w", "guide.md", include_passages=True)

    assert "cut a word too long for one: 3 (passages 1, 2, 3)" in report.warnings[0]
    assert "embedded in slices: 3 (passages 1, 2, 3)" in report.warnings[1]
    assert "(passages 0, 1, 2, 3, 4, ...)" in many.warnings[0]
    assert [one.passage.cuts_token for one in stored.passages] == [False, True, True, True]
