"""The builder of the binary documents."""

from __future__ import annotations

import io
import re
import time
import zipfile
from datetime import datetime
from pathlib import Path

import openpyxl
import pypdfium2  # type: ignore[import-untyped]
import pytest

from demo import build_documents
from demo.build_documents import DEMO_FOLDER, build_all
from demo.document_source import Heading, ItemList, Paragraph, Table, parse_blocks, read_source
from demo.pdf_document import pdf_bytes
from demo.xlsx_document import xlsx_bytes
from demo.zip_package import PACKAGE_TIME, repack

_TEXT_PARTS = ("word/document.xml", "xl/sharedStrings.xml", "xl/worksheets/")
FRONT_MATTER = '---\ntitle: "Prix : essai"\nkeywords: ["a", "b"]\ncategory: orders\nversion: "1"\n'


def _source(folder: Path, markdown: str, name: str = "essai.xlsx.md") -> Path:
    path = folder / "orders" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{FRONT_MATTER}---\n\n{markdown}\n", encoding="utf-8")
    return path


def _content(path: Path, document: bytes) -> str:
    """What a reader sees, whatever the version of the library that wrote the document."""
    if path.suffix == ".pdf":
        pdf = pypdfium2.PdfDocument(document)
        try:
            return "".join(page.get_textpage().get_text_range() for page in pdf)
        finally:
            pdf.close()
    with zipfile.ZipFile(io.BytesIO(document)) as package:
        parts = [name for name in package.namelist() if name.startswith(_TEXT_PARTS)]
        return "".join(re.sub("<[^>]*>", "|", package.read(part).decode()) for part in parts)


def test_building_twice_gives_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document built on another day has the same bytes."""
    first = dict(build_all(DEMO_FOLDER / "sources"))
    a_year_later = time.time() + 365 * 24 * 3600
    monkeypatch.setattr(time, "time", lambda: a_year_later)
    second = dict(build_all(DEMO_FOLDER / "sources"))
    assert len(first) == 20
    assert first == second


def test_office_documents_have_the_fixed_dates_only() -> None:
    """Both libraries would write the time of saving into the properties."""
    for target, document in build_all(DEMO_FOLDER / "sources"):
        if target.suffix != ".pdf":
            with zipfile.ZipFile(io.BytesIO(document)) as package:
                properties = package.read("docProps/core.xml").decode()
            assert set(re.findall(r"\d{4}-\d\d-\d\dT[\d:]+", properties)) == {
                PACKAGE_TIME.isoformat()
            }, target


def test_checked_in_documents_are_those_of_the_sources() -> None:
    """Every binary document has a source and reads as that source builds it."""
    documents = DEMO_FOLDER / "documents"
    built = dict(build_all(DEMO_FOLDER / "sources"))
    checked_in = {
        path.relative_to(documents): path.read_bytes()
        for path in documents.rglob("*")
        if path.suffix in {".pdf", ".docx", ".xlsx"}
    }
    assert set(built) == set(checked_in)
    for target, document in built.items():
        assert _content(target, document) == _content(target, checked_in[target]), target


def test_the_command_writes_below_the_documents_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sources/DOMAIN/NAME.pdf.md` becomes `documents/DOMAIN/NAME.pdf`."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "documents" / "orders").mkdir(parents=True)
    _source(tmp_path / "sources", "# Un titre", "essai.pdf.md")
    monkeypatch.setattr(build_documents, "DEMO_FOLDER", tmp_path)
    build_documents.main()
    assert (tmp_path / "documents/orders/essai.pdf").read_bytes().startswith(b"%PDF-")


def test_blocks_keep_their_order_and_their_kind() -> None:
    """Headings, paragraphs, both kinds of list and tables come out as they stand."""
    markdown = "# A\n\nb\nc\n\n- d\n- e\n\n1. f\n\n| g | h |\n|---|---|\n| i | |\n"
    assert list(parse_blocks(markdown)) == [
        Heading(1, "A"),
        Paragraph("b c"),
        ItemList(False, ("d", "e")),
        ItemList(True, ("f",)),
        Table((("g", "h"), ("i", ""))),
    ]


def test_a_block_that_cannot_be_built_is_named() -> None:
    """A quotation would silently lose its frame, so it is refused."""
    with pytest.raises(ValueError, match="blockquote_open"):
        list(parse_blocks("> a\n"))


def test_a_source_without_front_matter_is_refused(tmp_path: Path) -> None:
    """A document without a title must not be built."""
    path = tmp_path / "essai.pdf.md"
    path.write_text("# A\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no front matter"):
        read_source(path)


def test_a_source_of_unknown_format_is_refused(tmp_path: Path) -> None:
    """The error tells how to name the file."""
    _source(tmp_path, "# A", "essai.odt.md")
    with pytest.raises(ValueError, match=r"NAME\.pdf\.md"):
        list(build_all(tmp_path))


def test_a_workbook_has_typed_cells(tmp_path: Path) -> None:
    """Whole numbers, decimal commas and dates are typed; codes with spaces stay text."""
    table = "| n | x | jour | code |\n|---|---|---|---|\n| 12 | 3,5 | 2024-11-15 | 6907 21 |"
    content = xlsx_bytes(read_source(_source(tmp_path, f"# Feuille\n\n{table}")))
    workbook = openpyxl.load_workbook(io.BytesIO(content))
    rows = list(workbook["Feuille"].iter_rows(values_only=True))
    workbook.close()
    assert rows[-1] == (12, 3.5, datetime(2024, 11, 15), "6907 21")


def test_text_before_the_first_sheet_is_refused(tmp_path: Path) -> None:
    """A paragraph without a sheet would be lost."""
    with pytest.raises(ValueError, match="before the first sheet"):
        xlsx_bytes(read_source(_source(tmp_path, "texte")))


def test_a_character_outside_the_pdf_fonts_is_refused(tmp_path: Path) -> None:
    """It would be printed as a black square."""
    with pytest.raises(UnicodeEncodeError):
        pdf_bytes(read_source(_source(tmp_path, "du Havre → Alger", "essai.pdf.md")))


def test_repacking_replaces_only_what_is_named() -> None:
    """Other entries keep their contents and their order; all dates are equal."""
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b", "1")
        archive.writestr("a", "2")
    with zipfile.ZipFile(io.BytesIO(repack(package.getvalue(), {"a": b""}))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"b": b"1", "a": b""}
        assert [entry.filename for entry in archive.infolist()] == ["b", "a"]
        assert {entry.date_time for entry in archive.infolist()} == {(2024, 12, 1, 0, 0, 0)}
