"""Documents are cut anew from their kept files, and the files go with them."""

import asyncio
from dataclasses import replace

import pytest

from chassis.errors import FailedPrecondition, NotFound
from gateway.incoming_files import IngestionOutcome
from gateway.ingestion.originals import Originals
from tests.fakes.ingestion_desk import LONG, Desk


def originals(desk: Desk) -> list[str]:
    """The kept files, without their descriptions."""
    return [name for name in desk.files() if name == "originals"]


async def test_a_document_is_cut_anew_by_the_profile_of_its_workspace(desk: Desk) -> None:
    """Without an upload, with all that its sender said, and in place of what was there."""
    await desk.take_in(LONG, category="quais", metadata={"week": 12.0})
    before = desk.store.passages("w", "guide.md")
    desk.store.add_workspace("w", profile="sentences")
    report = await desk.ingestion.rechunk_document("w", "guide.md")
    after = desk.store.documents["w", "guide.md"].document

    assert report.outcome is IngestionOutcome.REPLACED
    assert (after.chunking_profile, after.category) == ("sentences", "quais")
    assert after.metadata == {"week": 12.0}
    assert [p.text for p in desk.store.passages("w", "guide.md")] != [p.text for p in before]
    assert desk.files() == ["originals"]


async def test_a_document_that_needs_no_other_passages_stays(desk: Desk) -> None:
    """The same profile is a stated no-op, and so is the upload of the same file afterwards."""
    await desk.take_in(LONG)
    report = await desk.ingestion.rechunk_document("w", "guide.md")
    desk.store.add_workspace("w", profile="sentences")
    await desk.ingestion.rechunk_document("w", "guide.md")
    again = await desk.take_in(LONG)

    assert report.outcome is IngestionOutcome.UNCHANGED
    assert again.outcome is IngestionOutcome.UNCHANGED


async def test_what_is_not_there_cannot_be_cut_anew(desk: Desk) -> None:
    """Neither a document nobody knows, nor one whose file was not kept."""
    await desk.take_in()
    Originals(desk.folder / "originals").remove_workspace("w")

    with pytest.raises(NotFound, match="no document"):
        await desk.ingestion.rechunk_document("w", "other.md")
    with pytest.raises(NotFound, match="was not kept; send it again"):
        await desk.ingestion.rechunk_document("w", "guide.md")
    assert desk.files() == []


@pytest.mark.parametrize("change", ["deleted", "replaced"])
async def test_a_document_that_changes_meanwhile_is_not_brought_back(
    desk: Desk, change: str
) -> None:
    """Cutting anew is no upload: what its owner did later counts."""
    await desk.take_in(LONG)
    desk.store.add_workspace("w", profile="sentences")
    stored = desk.store.documents["w", "guide.md"]
    with desk.embedder.holding() as arrived:
        cutting = asyncio.create_task(desk.ingestion.rechunk_document("w", "guide.md"))
        await arrived.wait()
        if change == "deleted":
            del desk.store.documents["w", "guide.md"]
        else:
            newer = replace(stored.document, content_hash="f" * 64)
            desk.store.documents["w", "guide.md"] = replace(stored, document=newer)
    with pytest.raises(FailedPrecondition, match=f"was {change} meanwhile"):
        await cutting

    assert len(desk.store.upserts) == 1


async def test_a_new_version_takes_the_place_of_the_kept_file(desk: Desk) -> None:
    """One file a document, whatever it was made of before."""
    await desk.take_in(LONG)
    await desk.take_in(LONG + "\n\nEt la suite.")

    assert originals(desk) == ["originals"]
    assert (await desk.ingestion.rechunk_document("w", "guide.md")).passage_count > 0


async def test_kept_files_go_after_their_document(desk: Desk) -> None:
    """Not before: who still has the document can cut it anew."""
    await desk.take_in()
    await desk.take_in(name="other.md")
    with pytest.raises(FailedPrecondition, match="still there"):
        await desk.ingestion.delete_originals("w", "guide.md")
    del desk.store.documents["w", "guide.md"]

    assert await desk.ingestion.delete_originals("w", "guide.md") == 1
    assert await desk.ingestion.delete_originals("w", "guide.md") == 0
    assert originals(desk) == ["originals"]


async def test_kept_files_go_after_their_workspace(desk: Desk) -> None:
    """All of them."""
    await desk.take_in()
    await desk.take_in(name="other.md")
    with pytest.raises(FailedPrecondition, match="workspace 'w' is still there"):
        await desk.ingestion.delete_originals("w")
    desk.store.workspaces.clear()

    assert await desk.ingestion.delete_originals("w") == 2
    assert desk.files() == []
