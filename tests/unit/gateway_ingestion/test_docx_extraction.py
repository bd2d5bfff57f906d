"""Word documents."""

from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.oxml import parse_xml

from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, heading, paragraph
from gateway.ingestion.extraction.docx import extract
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@pytest.fixture
def document() -> Document:
    """An empty Word document."""
    return docx.Document()


def read(document: Document, tmp_path: Path, limits: ExtractionLimits | None = None) -> Extraction:
    """Saves a document and extracts it."""
    path = tmp_path / "file.docx"
    document.save(str(path))
    return extract(path, limits or ExtractionLimits())


def test_blocks_come_in_body_order(document: Document, tmp_path: Path) -> None:
    """A table between two paragraphs stays between them; list items make one list."""
    document.core_properties.title = "Procédure de retard"
    document.core_properties.keywords = "retard; quai"
    document.core_properties.category = "expéditions"
    document.core_properties.language = "fr-FR"
    document.add_heading("Déclarer", 1)
    document.add_paragraph("Avant le tableau.")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Quai", "Délai", "Q1", "48 h"], strict=True):
        cell.text = text
    document.add_paragraph("Après le tableau.")
    document.add_paragraph("appeler", style="List Bullet")
    document.add_paragraph("écrire", style="List Bullet")
    document.add_heading("Clore", 2)

    extraction = read(document, tmp_path)

    assert extraction.blocks == (
        heading("Déclarer", 1),
        paragraph("Avant le tableau."),
        Block(BlockKind.TABLE, ("| Q1 | 48 h |",), header=("| Quai | Délai |", "| --- | --- |")),
        paragraph("Après le tableau."),
        Block(BlockKind.LIST, ("- appeler", "- écrire")),
        heading("Clore", 2),
    )
    assert extraction.facts.title == "Procédure de retard"
    assert extraction.facts.keywords == ("retard", "quai")
    assert extraction.facts.category == "expéditions"
    assert extraction.facts.language == "fr-FR"


def test_headers_and_footers_are_kept_once(document: Document, tmp_path: Path) -> None:
    """Text in the margins is findable, and not repeated for each section."""
    document.sections[0].header.paragraphs[0].text = "Confidentiel"
    document.add_section()
    document.sections[1].header.is_linked_to_previous = False
    document.sections[1].header.paragraphs[0].text = "Confidentiel"
    document.add_paragraph("Corps.")

    texts = [block.text for block in read(document, tmp_path).blocks]

    assert texts == ["Corps.", "Confidentiel"]


def test_insertions_count_and_deletions_do_not(document: Document, tmp_path: Path) -> None:
    """Tracked changes are read as if accepted; content controls and links are looked into."""
    body = document.element.body
    body.insert(
        0,
        parse_xml(
            f"<w:sdt {NAMESPACE}><w:sdtContent><w:p>"
            "<w:r><w:t>Le prix</w:t></w:r>"
            "<w:ins><w:r><w:t xml:space='preserve'> nouveau</w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText> ancien</w:delText></w:r></w:del>"
            "<w:hyperlink><w:r><w:tab/><w:t>lien</w:t></w:r></w:hyperlink>"
            "</w:p></w:sdtContent></w:sdt>"
        ),
    )

    assert read(document, tmp_path).blocks == (paragraph("Le prix nouveau\tlien"),)


def test_text_boxes_are_read_once(document: Document, tmp_path: Path) -> None:
    """Word stores them twice, for old and new versions."""
    box = "<w:txbxContent><w:p><w:r><w:t>encadré</w:t></w:r></w:p></w:txbxContent>"
    document.element.body.insert(
        0,
        parse_xml(
            f"<w:p {NAMESPACE} "
            'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
            "<w:r><w:t>texte</w:t></w:r><w:r><mc:AlternateContent>"
            f"<mc:Choice Requires='wps'>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
            "</mc:AlternateContent></w:r></w:p>"
        ),
    )

    assert read(document, tmp_path).blocks == (paragraph("texte"), paragraph("encadré"))


def test_a_table_of_one_column_is_a_frame(document: Document, tmp_path: Path) -> None:
    """What it holds keeps its roles."""
    table = document.add_table(rows=1, cols=1)
    table.cell(0, 0).paragraphs[0].text = "dans le cadre"

    assert read(document, tmp_path).blocks == (paragraph("dans le cadre"),)


def test_too_many_cells_are_refused(document: Document, tmp_path: Path) -> None:
    """The limit is named."""
    document.add_table(rows=3, cols=3)

    with pytest.raises(FileRefused, match="more than 8 cells") as raised:
        read(document, tmp_path, ExtractionLimits(cells=8))

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED


def test_a_zip_that_is_no_document_is_refused(tmp_path: Path) -> None:
    """A damaged document is unreadable, not a fault of ours."""
    path = tmp_path / "file.docx"
    path.write_bytes(b"PK\x05\x06" + bytes(18))

    with pytest.raises(FileRefused) as raised:
        extract(path, ExtractionLimits())

    assert raised.value.reason is RefusalReason.UNREADABLE_FILE
