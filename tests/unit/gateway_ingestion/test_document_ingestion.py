"""A file on its way from the upload to the store."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from chassis.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    Unavailable,
)
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from tests.fakes.chained_embedder import FIRST
from tests.fakes.ingestion_desk import LONG, Desk


async def test_a_new_file_is_stored_with_vectors_and_its_original(desk: Desk) -> None:
    """The report says what was made; title and language come from the text."""
    report = await desk.take_in()

    assert report == IngestionReport(
        IngestionOutcome.CREATED, "guide.md", "Guide", passage_count=1, space_id=FIRST
    )
    assert [passage.text for passage in desk.store.passages("w", "guide.md")] == [
        "# Guide\n\nLe navire attend au large."
    ]
    assert desk.store.spaces("w", "guide.md") == [(FIRST,)]
    stored = desk.store.documents["w", "guide.md"].document
    assert (stored.language, stored.chunking_profile) == ("fr", "structure")
    assert desk.embedder.embedded() == ["# Guide\n\nLe navire attend au large."]
    assert desk.files() == ["originals"]


async def test_the_same_file_again_is_a_stated_no_op(desk: Desk) -> None:
    """Nothing is read, embedded or stored."""
    await desk.take_in()
    again = await desk.take_in()

    assert again == IngestionReport(IngestionOutcome.UNCHANGED, "guide.md", "Guide", 1)
    assert len(desk.embedder.calls) == 1
    assert len(desk.store.upserts) == 1
    assert desk.files() == ["originals"]


async def test_another_description_of_the_same_file_is_a_change(desk: Desk) -> None:
    """A new category costs no vector: the embedded text is the same."""
    await desk.take_in()
    report = await desk.take_in(category="expéditions")

    assert report.outcome is IngestionOutcome.REPLACED
    assert report.kept_vector_count == 1
    assert report.space_id == ""
    assert len(desk.embedder.calls) == 1


async def test_a_workspace_s_profile_decides_how_files_are_cut(desk: Desk) -> None:
    """It is recorded on the document; an unknown one is refused before any work."""
    desk.store.add_workspace("w", profile="sentences")
    await desk.take_in(LONG)
    desk.store.add_workspace("w", profile="by-moon-phase")
    with pytest.raises(FailedPrecondition, match="by-moon-phase"):
        await desk.take_in(LONG)

    assert desk.store.upserts[0].chunking_profile == "sentences"
    assert all(passage.token_estimate <= 500 for passage in desk.store.passages("w", "guide.md"))


async def test_equal_uploads_at_the_same_time_cost_one(desk: Desk) -> None:
    """They are taken in one after the other; all but the first find nothing to do."""
    reports = await asyncio.gather(*(desk.take_in() for _ in range(8)))

    outcomes = [report.outcome for report in reports]
    assert outcomes.count(IngestionOutcome.CREATED) == 1
    assert outcomes.count(IngestionOutcome.UNCHANGED) == 7
    assert len(desk.embedder.embedded()) == 1
    assert desk.files() == ["originals"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("film.mp4", b"x", "UNSUPPORTED_TYPE"),
        ("a.md", b"", "EMPTY_FILE"),
        ("a.md", b" \n", "NO_TEXT"),
        ("a.pdf", b"text", "TYPE_MISMATCH"),
        ("a.docx", b"PK\x03\x04 not a zip", "UNREADABLE_FILE"),
    ],
)
async def test_a_refused_file_is_named_and_leaves_nothing(
    desk: Desk, name: str, content: bytes, reason: str
) -> None:
    """In the store; what could not be read stays on disk for another attempt."""
    with pytest.raises(InvalidArgument, match=name) as raised:
        await desk.take_in(content, name)

    assert raised.value.reason == reason
    assert desk.store.documents == {}
    assert desk.files() == ([] if reason in ("UNSUPPORTED_TYPE", "EMPTY_FILE") else ["received"])


async def test_an_unknown_workspace_is_refused_before_the_first_byte(desk: Desk) -> None:
    """Nobody waits for 100 MB to learn that."""

    read: list[bytes] = []

    async def content() -> AsyncIterator[bytes]:
        read.append(b"x")
        yield b"x"

    with pytest.raises(NotFound):
        await desk.ingestion.ingest_document(IncomingFile("nowhere", "a.md"), content())

    assert read == []


async def test_a_lost_store_is_told_and_the_file_stays(desk: Desk) -> None:
    """Once the attempts are used up; the job can be retried by hand."""
    desk.store.upsert_error = Unavailable("the retriever cannot be reached")

    with pytest.raises(Unavailable):
        await desk.take_in()

    assert desk.files() == ["originals", "received"]


async def test_the_time_given_is_kept(desk: Desk) -> None:
    """A content that never comes is given up, and leaves nothing."""

    async def content() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    with pytest.raises(DeadlineExceeded, match=r"a\.md"):
        await desk.ingestion.ingest_document(IncomingFile("w", "a.md"), content(), timeout=0.05)

    assert desk.files() == []
