"""What a document is called and said to be, by whom, and in which language."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from chassis.errors import InvalidArgument
from gateway.documents import Document, MetadataValue
from gateway.incoming_files import IncomingFile
from gateway.ingestion.description import check_description, described, fingerprint
from gateway.ingestion.extraction.blocks import (
    Block,
    Extraction,
    FileFacts,
    heading,
    paragraph,
)
from gateway.ingestion.language import document_language

EARLY, LATE = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
SENT = IncomingFile(
    workspace="w",
    file_name="note.md",
    title="Sent",
    keywords=("sent",),
    source_uri="https://exemple.fr",
    category="sent",
    metadata={"week": 12.0},
    version="2",
    valid_from=EARLY,
)
FACTS = FileFacts(
    title="Found",
    keywords=("found",),
    category="found",
    version="1",
    superseded=True,
    valid_from=LATE,
    valid_until=LATE,
    metadata={"week": 11.0, "team": "qualité"},
)


def document(file: IncomingFile, extraction: Extraction) -> Document:
    """The document without its warnings."""
    return described(file, "id", extraction, "fr")[0]


def test_the_owner_s_words_win_and_the_file_fills_the_gaps() -> None:
    """Metadata are merged by name."""
    assert document(SENT, Extraction((), FACTS)) == Document(
        external_id="id",
        title="Sent",
        keywords=("sent",),
        source_uri="https://exemple.fr",
        category="sent",
        language="fr",
        metadata={"week": 12.0, "team": "qualité"},
        version="2",
        valid_from=EARLY,
        valid_until=LATE,
        superseded=True,
    )
    bare = document(IncomingFile("w", "note.md"), Extraction((), FACTS))
    assert (bare.title, bare.keywords, bare.category, bare.version) == (
        "Found",
        ("found",),
        "found",
        "1",
    )


@pytest.mark.parametrize(
    ("file_name", "blocks", "title"),
    [
        ("note.md", (heading("Guide", 1), paragraph("x")), "Guide"),
        ("les-retards_de_2024.pdf", (paragraph("x"), heading("Later", 1)), "les retards de 2024"),
        ("chiffres.xlsx", (heading("Feuille1", 1, "Feuille1"),), "chiffres"),
        ("dossier\\sous\\note.txt", (paragraph("x"),), "note"),
        ("---.txt", (paragraph("x"),), "---.txt"),
    ],
)
def test_a_document_without_title_takes_its_first_heading_or_its_name(
    file_name: str, blocks: tuple[Block, ...], title: str
) -> None:
    """The name of a sheet is no title."""
    assert document(IncomingFile("w", file_name), Extraction(blocks)).title == title


def test_what_a_file_says_is_bounded() -> None:
    """A file cannot blow up its own description; the owner is told what was left out."""
    facts = replace(
        FACTS,
        title="t" * 5_000,
        keywords=("k" * 500, *map(str, range(500))),
        metadata={"a": "x" * 20_000},
    )

    made, warnings = described(IncomingFile("w", "a.md"), "id", Extraction((), facts), "fr")

    assert len(made.title) == 1_000
    assert made.keywords == tuple(map(str, range(100)))
    assert made.metadata == {}
    assert "metadata" in warnings[0]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"workspace": "Not A Slug"}, "workspace"),
        ({"file_name": " "}, "file_name"),
        ({"external_id": "a\nb"}, "external_id"),
        ({"language": "de"}, "language"),
        ({"title": "t" * 1_001}, "title"),
        ({"metadata": {"a": "é" * 9_000}}, "metadata"),
        ({"valid_from": LATE, "valid_until": EARLY}, "valid_until"),
    ],
)
def test_descriptions_that_cannot_be_stored_name_the_field(
    changes: dict[str, object], field: str
) -> None:
    """Before a byte of the file is read."""
    with pytest.raises(InvalidArgument) as raised:
        check_description(replace(SENT, **changes))  # type: ignore[arg-type] # by field name

    assert raised.value.field == field


@pytest.mark.parametrize(
    "changed",
    [
        fingerprint(replace(SENT, title="Other"), "a.md", "ab", "structure", "fr"),
        fingerprint(replace(SENT, file_name="a.txt"), "a.md", "ab", "structure", "fr"),
        fingerprint(replace(SENT, file_name="b.md", title=""), "a.md", "ab", "structure", "fr"),
        fingerprint(SENT, "b.md", "ab", "structure", "fr"),
        fingerprint(replace(SENT, metadata={"week": 13.0}), "a.md", "ab", "structure", "fr"),
        fingerprint(replace(SENT, valid_from=LATE), "a.md", "ab", "structure", "fr"),
        fingerprint(SENT, "a.md", "cd", "structure", "fr"),
        fingerprint(SENT, "a.md", "ab", "words", "fr"),
        fingerprint(SENT, "a.md", "ab", "structure", "en"),
    ],
)
def test_everything_that_decides_how_a_document_is_stored_is_in_its_fingerprint(
    changed: str,
) -> None:
    """Equal inputs give equal prints, which begin with that of the file."""
    own = fingerprint(SENT, "a.md", "ab", "structure", "fr")

    assert own == fingerprint(replace(SENT), "a.md", "ab", "structure", "fr") != changed
    assert own.startswith("ab-")


def test_the_same_file_by_another_door_has_the_same_fingerprint() -> None:
    """Announced size, the way an id was given, zones and kinds of numbers decide nothing."""
    one = replace(SENT, file_name="a.md", external_id="", byte_count=12, valid_from=LATE)
    other = replace(
        one,
        external_id="a.md",
        byte_count=None,
        metadata={name: _as_sent_elsewhere(value) for name, value in one.metadata.items()},
        valid_from=LATE.astimezone(timezone(timedelta(hours=2))),
    )

    prints = {fingerprint(file, "a.md", "ab", "structure", "fr") for file in (one, other)}

    assert len(prints) == 1


def _as_sent_elsewhere(value: MetadataValue) -> MetadataValue:
    return int(value) if isinstance(value, float) and value.is_integer() else value


FRENCH = paragraph(
    "Le navire attend au large, et les conteneurs restent à quai pour la semaine. " * 4
)
ENGLISH = paragraph("The ship is waiting, and the boxes will stay at the quay for the week. " * 4)


@pytest.mark.parametrize(
    ("sent", "tagged", "workspace", "block", "language"),
    [
        ("en", "fr", "fr", FRENCH, "en"),
        ("", "en-GB", "fr", FRENCH, "en"),
        ("", "fr_CA", "en", ENGLISH, "fr"),
        ("", "de", "fr", FRENCH, "fr"),
        ("", "", "fr", FRENCH, "fr"),
        ("", "", "fr", ENGLISH, "en"),
        ("", "", "en", FRENCH, "fr"),
        ("", "", "fr", paragraph("The quay."), "fr"),
        ("", "", "en", paragraph("Le quai."), "en"),
        ("", "", "auto", paragraph("The quay is closed."), "en"),
        ("", "", "auto", paragraph("Le quai est fermé."), "fr"),
        ("", "", "", paragraph("Quai."), "fr"),
    ],
)
def test_language_is_decided_by_owner_file_text_and_workspace_in_this_order(
    sent: str, tagged: str, workspace: str, block: Block, language: str
) -> None:
    """A short text takes the workspace's language, unless that is `auto`."""
    assert document_language(sent, tagged, workspace, (block,)) == language
