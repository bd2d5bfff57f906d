"""PDF files."""

from pathlib import Path

import pytest

from gateway.ingestion.extraction import pdf
from gateway.ingestion.extraction.blocks import paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason
from tests.fakes.pdf import pdf_file

LIMITS = ExtractionLimits()


def written(tmp_path: Path, data: bytes) -> Path:
    """Writes a file."""
    path = tmp_path / "file.pdf"
    path.write_bytes(data)
    return path


def test_text_comes_page_by_page_with_accents(tmp_path: Path) -> None:
    """Every paragraph knows its page; title and keywords are read from the file."""
    data = pdf_file(
        [
            ["Délais de livraison à l’été 2024", "", "Les œuvres partent de Rouen."],
            ["Coût : 12 € (février)"],
        ],
        title="Rapport été",
        subject="expéditions",
        keywords="délais, Rouen",
    )

    extraction = pdf.extract(written(tmp_path, data), LIMITS)

    assert [(block.location, block.text) for block in extraction.blocks] == [
        ("page 1", "Délais de livraison à l’été 2024"),
        ("page 1", "Les œuvres partent de Rouen."),
        ("page 2", "Coût : 12 € (février)"),
    ]
    assert extraction.facts.title == "Rapport été"
    assert extraction.facts.keywords == ("délais", "Rouen")
    assert extraction.facts.category == "expéditions"
    assert extraction.warnings == ()


def test_lines_of_a_paragraph_and_divided_words_are_joined(tmp_path: Path) -> None:
    """A hyphen at a line end goes, unless the document writes the word with it elsewhere."""
    lines = [
        "Le responsable des expéditions vérifie chaque semaine les déclara-",
        "tions et le porte-conteneurs qui attend au quai, puis le porte-",
        "conteneurs suivant.",
        "Un autre alinéa commence ici, après une ligne bien plus courte que",
        "les autres.",
    ]

    extraction = pdf.extract(written(tmp_path, pdf_file([lines])), LIMITS)

    assert extraction.blocks == (
        paragraph(
            "Le responsable des expéditions vérifie chaque semaine les déclarations et le "
            "porte-conteneurs qui attend au quai, puis le porte-conteneurs suivant.",
            "page 1",
        ),
        paragraph(
            "Un autre alinéa commence ici, après une ligne bien plus courte que les autres.",
            "page 1",
        ),
    )


def test_larger_lines_are_headings(tmp_path: Path) -> None:
    """Sizes above that of the body make headings, which paragraphs do not swallow."""
    lines = ["# Les causes", "Le navire attend au large depuis lundi.", "# Les suites", "Rien."]

    extraction = pdf.extract(written(tmp_path, pdf_file([lines])), LIMITS)

    assert [(block.level, block.text) for block in extraction.blocks] == [
        (1, "Les causes"),
        (0, "Le navire attend au large depuis lundi."),
        (1, "Les suites"),
        (0, "Rien."),
    ]


def test_pages_without_text_are_named(tmp_path: Path) -> None:
    """The reader learns which pages need OCR."""
    data = pdf_file([["Un"], [], [], ["Quatre"], []])

    extraction = pdf.extract(written(tmp_path, data), LIMITS)

    assert extraction.warnings == ("pages without text: 2-3, 5",)


@pytest.mark.parametrize("title", ["Untitled-1", "Microsoft Word - courrier.doc", "note.docx"])
def test_titles_that_programs_make_up_are_ignored(tmp_path: Path, title: str) -> None:
    """They name a file, not a document."""
    extraction = pdf.extract(written(tmp_path, pdf_file([["Un"]], title=title)), LIMITS)

    assert extraction.facts.title == ""


@pytest.mark.parametrize(
    ("data", "limits", "reason"),
    [
        (pdf_file([["Un"]], encrypted=True), LIMITS, RefusalReason.PASSWORD_PROTECTED),
        (b"%PDF-1.4\nnothing", LIMITS, RefusalReason.UNREADABLE_FILE),
        (pdf_file([["Un"]] * 3), ExtractionLimits(pages=2), RefusalReason.LIMIT_EXCEEDED),
        (pdf_file([["Un" * 9]]), ExtractionLimits(characters=9), RefusalReason.LIMIT_EXCEEDED),
    ],
    ids=["password", "damaged", "pages", "characters"],
)
def test_refusals_name_their_reason(
    tmp_path: Path, data: bytes, limits: ExtractionLimits, reason: RefusalReason
) -> None:
    """Each kind of trouble has its own word."""
    with pytest.raises(FileRefused) as raised:
        pdf.extract(written(tmp_path, data), limits)

    assert raised.value.reason is reason
