"""A file on its way from the upload to the store."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chassis.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
)
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.ingestion.document_ingestion import INCOMPLETE, DocumentIngestion
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.service import assembled
from gateway.ingestion.settings import IngestionSettings
from tests.fakes.chained_embedder import FIRST, SECOND, ChainedEmbedder
from tests.fakes.passage_store import FakePassageStore

GUIDE = "# Guide\n\nLe navire attend au large.\n"
LONG = "\n\n".join(
    f"## Partie {n}\n\n" + f"La phrase {n} parle du quai et du navire. " * 40 for n in range(4)
)


@dataclass
class Desk:
    """The ingestion over fakes, with a workspace "w"."""

    ingestion: DocumentIngestion
    embedder: ChainedEmbedder
    store: FakePassageStore
    folder: Path

    async def take_in(
        self, content: str | bytes = GUIDE, name: str = "guide.md", **fields: object
    ) -> IngestionReport:
        """Has a file taken in."""
        data = content.encode() if isinstance(content, str) else content

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(data), 1024):
                yield data[start : start + 1024]

        file = IncomingFile("w", name)
        return await self.ingestion.ingest_document(
            replace(file, **fields),  # type: ignore[arg-type] # by field name
            pieces(),
        )

    def files(self) -> list[str]:
        """Everything in the data folder, from its root."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).parts[0] for path in paths)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A fresh desk."""
    embedder, store = ChainedEmbedder(), FakePassageStore()
    store.add_workspace("w")
    processes = ExtractionProcesses(ExtractionLimits(), count=1)
    settings = IngestionSettings(data_folder=tmp_path)
    yield Desk(assembled(settings, embedder, store, processes), embedder, store, tmp_path)
    await processes.close()


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


async def test_the_original_is_found_by_the_content_hash(desk: Desk) -> None:
    """A document can be cut anew from what is stored."""
    await desk.take_in()

    content_hash = desk.store.documents["w", "guide.md"].document.content_hash
    original = desk.ingestion.originals.path_of("w", content_hash[:64], ".md")
    assert original.read_text() == GUIDE


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


async def test_a_workspace_s_profile_decides_how_files_are_cut(desk: Desk) -> None:
    """It is recorded on the document; an unknown one is refused before any work."""
    desk.store.add_workspace("w", profile="sentences")
    await desk.take_in(LONG)
    desk.store.add_workspace("w", profile="by-moon-phase")
    with pytest.raises(FailedPrecondition, match="by-moon-phase"):
        await desk.take_in(LONG)

    assert desk.store.upserts[0].chunking_profile == "sentences"
    assert all(passage.token_estimate <= 500 for passage in desk.store.passages("w", "guide.md"))


async def test_a_document_too_large_to_be_read_back_is_embedded_anew(desk: Desk) -> None:
    """Its stored passages do not fit into one answer: costly, but right."""
    await desk.take_in(LONG)
    desk.store.passages_error = ResourceExhausted("message over 16 MiB")

    report = await desk.take_in(LONG, category="x")

    assert report.outcome is IngestionOutcome.REPLACED
    assert len(desk.embedder.embedded()) == 8


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
    """Neither in the store nor on disk."""
    with pytest.raises(InvalidArgument, match=name) as raised:
        await desk.take_in(content, name)

    assert raised.value.reason == reason
    assert desk.store.documents == {}
    assert desk.files() == []


async def test_an_unknown_workspace_is_refused_before_the_first_byte(desk: Desk) -> None:
    """Nobody waits for 100 MB to learn that."""

    read: list[bytes] = []

    async def content() -> AsyncIterator[bytes]:
        read.append(b"x")
        yield b"x"

    with pytest.raises(NotFound):
        await desk.ingestion.ingest_document(IncomingFile("nowhere", "a.md"), content())

    assert read == []


async def test_a_lost_store_is_told_and_the_upload_removed(desk: Desk) -> None:
    """The caller sends the file again later; its original may stay."""
    desk.store.upsert_error = Unavailable("the retriever cannot be reached")

    with pytest.raises(Unavailable):
        await desk.take_in()

    assert desk.files() == ["originals"]


async def test_the_time_given_is_kept(desk: Desk) -> None:
    """A content that never comes is given up, and leaves nothing."""

    async def content() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    with pytest.raises(DeadlineExceeded, match=r"a\.md"):
        await desk.ingestion.ingest_document(IncomingFile("w", "a.md"), content(), timeout=0.05)

    assert desk.files() == []
