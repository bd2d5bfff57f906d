"""What a file replaces can be kept as a superseded document of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chassis.errors import NotFound
from gateway.documents import Document
from gateway.incoming_files import IngestionOutcome
from tests.fakes.ingestion_desk import Desk, open_desk

EARLY, LATE = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
STORED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk with one document in its first version."""
    async with open_desk(tmp_path) as desk:
        await desk.take_in("# Tarif\n\nDix euros.", "tarif.md", version="1", valid_from=EARLY)
        yield desk


def documents(desk: Desk) -> dict[str, Document]:
    """Returns all documents by id."""
    return {name: stored.document for (_, name), stored in desk.store.documents.items()}


async def test_the_earlier_version_stays_searchable_and_says_that_it_is_over(desk: Desk) -> None:
    """It ends to hold when the new one begins; the new one has the document's own id."""
    report = await desk.take_in(
        "# Tarif\n\nOnze euros.", "tarif.md", version="2", valid_from=LATE, keep_previous=True
    )

    found = documents(desk)
    assert report.outcome is IngestionOutcome.REPLACED
    assert set(found) == {"tarif.md", "tarif.md@1"}
    old, new = found["tarif.md@1"], found["tarif.md"]
    assert (old.superseded, old.version, old.valid_from, old.valid_until) == (
        True,
        "1",
        EARLY,
        LATE,
    )
    assert (new.superseded, new.version, new.valid_from, new.valid_until) == (
        False,
        "2",
        LATE,
        None,
    )
    assert "Dix euros" in desk.store.passages("w", "tarif.md@1")[0].text
    assert "Onze euros" in desk.store.passages("w", "tarif.md")[0].text
    assert desk.files() == ["originals"] * 2


async def test_without_another_version_the_moment_of_storing_names_it(desk: Desk) -> None:
    """It holds until now where nobody says from when the new one does."""
    stored = desk.store.documents["w", "tarif.md"]
    desk.store.documents["w", "tarif.md"] = replace(stored, update_time=STORED)
    before = datetime.now(UTC)

    await desk.take_in("# Tarif\n\nOnze euros.", "tarif.md", version="1", keep_previous=True)

    old = documents(desk)["tarif.md@2026-03-04T05:06:07.000000Z"]
    assert old.valid_until is not None
    assert before <= old.valid_until <= datetime.now(UTC)


async def test_equal_bytes_are_no_other_version(desk: Desk) -> None:
    """Neither the same upload again, nor another title for the same file."""
    await desk.take_in("# Tarif\n\nDix euros.", "tarif.md", version="1", keep_previous=True)
    again = await desk.take_in(
        "# Tarif\n\nDix euros.", "tarif.md", version="1", valid_from=EARLY, keep_previous=True
    )
    await desk.take_in("# Tarif\n\nDix euros.", "tarif.md", title="Prix", keep_previous=True)

    assert again.outcome in (IngestionOutcome.REPLACED, IngestionOutcome.UNCHANGED)
    assert set(documents(desk)) == {"tarif.md"}


async def test_a_new_document_has_no_earlier_version(desk: Desk) -> None:
    """The wish to keep one is no error."""
    report = await desk.take_in("Bonjour.", "autre.md", keep_previous=True)

    assert report.outcome is IngestionOutcome.CREATED
    assert set(documents(desk)) == {"tarif.md", "autre.md"}


async def test_what_cannot_be_kept_is_not_replaced(desk: Desk) -> None:
    """Without the earlier file nothing happens, and the error says why."""
    for path in (desk.folder / "originals").rglob("*"):
        if path.is_file():
            path.unlink()

    with pytest.raises(NotFound) as caught:
        await desk.take_in("# Tarif\n\nOnze euros.", "tarif.md", keep_previous=True)

    assert caught.value.reason == "ORIGINAL_NOT_FOUND"
    assert "Dix euros" in desk.store.passages("w", "tarif.md")[0].text


async def test_the_wish_itself_makes_no_other_document(desk: Desk) -> None:
    """The same file with and without it is the same."""
    report = await desk.take_in(
        "# Tarif\n\nDix euros.", "tarif.md", version="1", valid_from=EARLY, keep_previous=True
    )

    assert report.outcome is IngestionOutcome.UNCHANGED
