"""The checked-in documents of the demo, read as any reader of their formats would."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import docx
import openpyxl
import pypdfium2  # type: ignore[import-untyped]
import pytest
from selectolax.lexbor import LexborHTMLParser

from demo.build_documents import DEMO_FOLDER
from demo.document_source import split_front_matter

DOCUMENTS = DEMO_FOLDER / "documents"
DOMAINS = {"customers", "orders", "products", "shipments", "policies"}


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a document says about itself, and its text."""

    values: dict[str, str]
    text: str


def _read_markdown(path: Path) -> ReadDocument:
    values, text = split_front_matter(path.read_text(encoding="utf-8"))
    return ReadDocument({key: "".join(value) for key, value in values.items()}, text)


def _read_html(path: Path) -> ReadDocument:
    page = LexborHTMLParser(path.read_text(encoding="utf-8"))
    values = {
        str(meta.attributes["name"]): str(meta.attributes["content"])
        for meta in page.css("meta[name]")
    }
    root, title, body = page.root, page.css_first("title"), page.body
    assert root is not None
    assert title is not None
    assert body is not None
    values |= {"title": title.text(), "language": str(root.attributes["lang"])}
    return ReadDocument(values, body.text(separator=" "))


def _read_pdf(path: Path) -> ReadDocument:
    document = pypdfium2.PdfDocument(path)
    try:
        values = document.get_metadata_dict()
        text = "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()
    return ReadDocument(
        {
            "title": values["Title"],
            "keywords": values["Keywords"],
            "category": values["Subject"],
        },
        text,
    )


def _read_docx(path: Path) -> ReadDocument:
    document = docx.Document(str(path))
    properties = document.core_properties
    texts = [paragraph.text for paragraph in document.paragraphs]
    for table in document.tables:
        texts += [cell.text for row in table.rows for cell in row.cells]
    return ReadDocument(
        {
            "title": properties.title,
            "keywords": properties.keywords,
            "category": properties.category,
        },
        "\n".join(texts),
    )


def _read_xlsx(path: Path) -> ReadDocument:
    workbook = openpyxl.load_workbook(path)
    cells = [
        str(cell.value)
        for sheet in workbook.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    ]
    properties = workbook.properties
    workbook.close()
    return ReadDocument(
        {
            "title": properties.title or "",
            "keywords": properties.keywords or "",
            "category": properties.category or "",
        },
        "\n".join(cells),
    )


READERS = {
    ".md": _read_markdown,
    ".html": _read_html,
    ".pdf": _read_pdf,
    ".docx": _read_docx,
    ".xlsx": _read_xlsx,
}


@pytest.fixture(scope="module")
def documents() -> dict[Path, ReadDocument]:
    """All documents of the demo by their path relative to the documents folder."""
    return {
        path.relative_to(DOCUMENTS): READERS[path.suffix](path)
        for path in sorted(DOCUMENTS.rglob("*"))
        if path.is_file()
    }


def test_all_domains_and_formats_are_well_represented(
    documents: dict[Path, ReadDocument],
) -> None:
    """About fifty documents, at least nine a domain, and the five formats in proportion."""
    domains = Counter(path.parts[0] for path in documents)
    formats = Counter(path.suffix for path in documents)
    assert 48 <= len(documents) <= 55
    assert set(domains) == DOMAINS
    assert min(domains.values()) >= 9
    assert formats == {".md": 25, ".html": 8, ".pdf": 7, ".docx": 8, ".xlsx": 5}


def test_the_documents_hold_about_twelve_thousand_words(
    documents: dict[Path, ReadDocument],
) -> None:
    """The whole base has the promised size, and its documents differ in length."""
    lengths = [
        sum(any(sign.isalnum() for sign in word) for word in document.text.split())
        for document in documents.values()
    ]
    assert 11_000 <= sum(lengths) <= 13_500
    assert min(lengths) <= 120
    assert max(lengths) >= 500


def test_every_document_tells_title_keywords_and_category(
    documents: dict[Path, ReadDocument],
) -> None:
    """Titles are unique, keywords are several, and the category is the folder."""
    titles = Counter(document.values["title"] for document in documents.values())
    assert "" not in titles
    assert max(titles.values()) == 1
    for path, document in documents.items():
        assert document.values["keywords"].strip(), path
        assert document.values["category"] == path.parts[0], path


def test_markdown_and_html_tell_language_version_and_validity(
    documents: dict[Path, ReadDocument],
) -> None:
    """Both formats carry the values that the other three have no room for."""
    for path, document in documents.items():
        if path.suffix in {".md", ".html"}:
            assert document.values["language"] == "fr", path
            assert document.values["version"], path
            assert document.values["superseded"] in {"true", "false"}, path
            assert document.values["valid_from"], path


def test_two_superseded_versions_stand_beside_their_successors(
    documents: dict[Path, ReadDocument],
) -> None:
    """A superseded version ends before its successor begins, and the successor has no end."""
    superseded = {
        path for path, document in documents.items() if document.values.get("superseded") == "true"
    }
    successors = {
        Path("policies/retours-v1.md"): Path("policies/retours-v2.md"),
        Path("policies/bareme-frais-2023.html"): Path("policies/bareme-frais-2024.html"),
    }
    assert superseded == set(successors)
    for old, new in successors.items():
        assert documents[old].values["valid_until"] < documents[new].values["valid_from"]
        assert documents[new].values["superseded"] == "false"
        assert "valid_until" not in documents[new].values


def test_there_are_five_questions() -> None:
    """One question a domain, none empty and none twice."""
    questions = (DEMO_FOLDER / "questions.txt").read_text(encoding="utf-8").splitlines()
    assert len(questions) == len(set(questions)) == len(DOMAINS)
    assert all(question.strip().endswith("?") for question in questions)
