"""Excel workbooks."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from pathlib import Path

import pytest
from openpyxl import Workbook

from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused
from gateway.ingestion.extraction.xlsx import extract

Sheets = dict[str, Sequence[Sequence[object]]]
Read = Callable[..., Extraction]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Writes a workbook and extracts it."""

    def reading(sheets: Sheets, limits: ExtractionLimits | None = None) -> Extraction:
        workbook = Workbook()
        workbook.remove(workbook.worksheets[0])
        for name, rows in sheets.items():
            sheet = workbook.create_sheet(name)
            for row in rows:
                sheet.append(list(row))
        workbook.properties.title = "Chiffres d'octobre"
        workbook.properties.keywords = "ports; EVP, ponctualité"
        workbook.properties.category = "expéditions"
        path = tmp_path / "file.xlsx"
        workbook.save(path)
        workbook.close()
        return extract(path, limits or ExtractionLimits())

    return reading


def test_sheets_become_tables_with_header_and_literal_values(read: Read) -> None:
    """`0012` and `NA` stay as written, dates are ISO, whole numbers have no point."""
    extraction = read(
        {
            "Ventes": [
                ["Code", "Pays", "Date", "Montant", "Payé"],
                ["0012", "NA", date(2024, 1, 31), 1200.0, True],
                ["0013", "FR", datetime(2024, 2, 1, 8, 30), 0.1, False],
            ],
            "Vide": [],
        }
    )

    assert extraction.blocks == (
        heading("Ventes", 1, "Ventes"),
        Block(
            BlockKind.TABLE,
            (
                "| 0012 | NA | 2024-01-31 | 1200 | TRUE |",
                "| 0013 | FR | 2024-02-01 08:30:00 | 0.1 | FALSE |",
            ),
            location="Ventes",
            header=("| Code | Pays | Date | Montant | Payé |", "| --- | --- | --- | --- | --- |"),
        ),
    )


def test_properties_of_the_workbook_are_read(read: Read) -> None:
    """Title, keywords and category come from the file."""
    facts = read({"S": [["a"]]}).facts

    assert facts.title == "Chiffres d'octobre"
    assert facts.keywords == ("ports", "EVP", "ponctualité")
    assert facts.category == "expéditions"


def test_lines_above_a_table_are_no_part_of_it(read: Read) -> None:
    """A caption right above the header does not hide it."""
    extraction = read({"S": [["Situation au 15"], ["Code", "Client"], ["L1", "Lormont"]]})

    assert extraction.blocks[1] == paragraph("Situation au 15", "S")
    assert extraction.blocks[2].header[0] == "| Code | Client |"


def test_empty_rows_divide_tables_and_empty_columns_go(read: Read) -> None:
    """A caption above a table is a paragraph; a column without values is left out."""
    extraction = read(
        {
            "S": [
                ["Retards par quai"],
                [],
                ["Quai", None, "Jours"],
                ["Q1", None, 3],
                [],
                [1, None, 2],
                [3, None, None],
            ]
        }
    )

    assert [block.text for block in extraction.blocks] == [
        "S",
        "Retards par quai",
        "| Quai | Jours |\n| --- | --- |\n| Q1 | 3 |",
        "| 1 | 2 |\n| 3 |  |",
    ]
    assert extraction.blocks[1] == paragraph("Retards par quai", "S")


@pytest.mark.parametrize(
    "first_row", [["2023", "2024"], ["a", "a"], ["x" * 81, "b"], [None, "b", "x"]]
)
def test_a_first_row_that_names_no_columns_is_no_header(
    read: Read, first_row: Sequence[object]
) -> None:
    """Numbers, repeated names, long texts and gaps are data."""
    extraction = read({"S": [first_row, ["c", "d", "e"][: len(first_row)]]})

    assert extraction.blocks[1].header == ()
    assert len(extraction.blocks[1].parts) == 2


def test_line_breaks_and_bars_stay_inside_their_cell(read: Read) -> None:
    """A cell never breaks its row."""
    extraction = read({"S": [["Question", "Réponse"], ["Où\nvas-tu ?", "A|B"]]})

    assert extraction.blocks[1].parts == ("| Où vas-tu ? | A\\|B |",)


def test_times_are_written_plainly(read: Read) -> None:
    """A time of day stays one."""
    extraction = read({"S": [["Heure", "Quai"], [time(8, 30), "Q1"]]})

    assert extraction.blocks[1].parts == ("| 08:30:00 | Q1 |",)


def test_too_many_cells_are_refused(read: Read) -> None:
    """Counted over all sheets, empty cells of the used area included."""
    with pytest.raises(FileRefused, match="more than 5 cells"):
        read({"A": [["a", None, "c"]], "B": [["d", None, "f"]]}, ExtractionLimits(cells=5))
