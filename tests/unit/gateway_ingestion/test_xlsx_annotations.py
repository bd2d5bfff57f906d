"""What Excel sheets hold beside their cells, and workbooks of the old format."""

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from gateway.ingestion.extraction.blocks import Block, BlockKind, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.registry import extract_file
from gateway.ingestion.extraction.xlsx_annotations import annotations_of
from tests.fakes.old_excel import old_excel_file

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
PARTS = {
    "xl/workbook.xml": f"""<workbook xmlns:r="{OFFICE}"><sheets>
        <sheet name="Quais" r:id="rId7"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{RELATIONS}"><Relationship
        Id="rId7" Type="{OFFICE}/worksheet" Target="worksheets/sheet3.xml"/></Relationships>""",
    "xl/worksheets/sheet3.xml": "<worksheet/>",
    "xl/worksheets/_rels/sheet3.xml.rels": f"""<Relationships xmlns="{RELATIONS}"><Relationship
        Id="a" Type="{OFFICE}/drawing" Target="/xl/drawings/d.xml"/></Relationships>""",
    "xl/drawings/d.xml": """<d xmlns:a="urn:a"><a:txBody><a:p><a:r><a:t>Zone </a:t></a:r>
        <a:r><a:t>d’attente</a:t></a:r></a:p><a:p><a:t>au nord</a:t></a:p></a:txBody></d>""",
}


def test_comments_headers_and_footers_follow_the_cells(tmp_path: Path) -> None:
    """Fields such as the page number are left out; what both pages repeat comes once."""
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    sheet.append(["Quai", "Délai"])
    sheet.append(["Q1", "2"])
    sheet["B2"].comment = Comment("Sauf le 14 juillet", "Léa")
    header, footer, even = sheet.oddHeader, sheet.oddFooter, sheet.evenFooter
    assert header is not None
    assert footer is not None
    assert even is not None
    header.center.text = "Confidentiel && interne"
    footer.left.text = "&P / &N"
    footer.right.text = even.right.text = "Service des quais"
    path = tmp_path / "upload"
    workbook.save(path)
    workbook.close()

    extraction = extract_file(path, ".xlsx", ExtractionLimits())

    assert [block.text for block in extraction.blocks[2:]] == [
        "Sauf le 14 juillet",
        "Confidentiel & interne",
        "Service des quais",
    ]


def test_text_boxes_are_found_through_the_sheet_they_stand_on(tmp_path: Path) -> None:
    """Paths of parts may be absolute or relative; runs of one line are joined."""
    path = tmp_path / "upload"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in PARTS.items():
            archive.writestr(name, text)

    assert annotations_of(path) == {"Quais": [paragraph("Zone d’attente\nau nord", "Quais")]}


@pytest.mark.parametrize("lost", ["xl/drawings/d.xml", "xl/worksheets/sheet3.xml"])
def test_damaged_parts_say_nothing(tmp_path: Path, lost: str) -> None:
    """The cells are still read."""
    path = tmp_path / "upload"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in PARTS.items():
            if name != lost:
                archive.writestr(name, text)

    assert annotations_of(path) == {}


@pytest.mark.parametrize("year", [95, 97])
def test_workbooks_of_the_old_formats_are_read(tmp_path: Path, year: int) -> None:
    """Accents, literal codes and numbers come out as in new ones."""
    path = tmp_path / "upload"
    path.write_bytes(old_excel_file(["Code", "Délai"], ["0012", 3.5], sheet="Été", year=year))

    extraction = extract_file(path, ".xls", ExtractionLimits())

    assert extraction.blocks == (
        heading("Été", 1, "Été"),
        Block(
            BlockKind.TABLE,
            ("| 0012 | 3.5 |",),
            location="Été",
            header=("| Code | Délai |", "| --- | --- |"),
        ),
    )
