"""Files of values divided by signs."""

from pathlib import Path

import pytest

from gateway.ingestion.extraction.blocks import Block, BlockKind, paragraph
from gateway.ingestion.extraction.csv import extract
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason

LIMITS = ExtractionLimits()


def blocks_of(tmp_path: Path, text: str, encoding: str = "utf-8") -> tuple[Block, ...]:
    """Writes a file and extracts it."""
    path = tmp_path / "file.csv"
    path.write_bytes(text.encode(encoding))
    return extract(path, LIMITS).blocks


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_the_dividing_sign_is_found(tmp_path: Path, delimiter: str, line_end: str) -> None:
    """A header row is repeated as a header; values stay as written."""
    rows = [["Code", "Pays", "Délai"], ["0012", "NA", "3,5 j. ouvrés"], ["0013", "FR", ""]]
    quoted = [[f'"{value}"' if "," in value else value for value in row] for row in rows]

    blocks = blocks_of(tmp_path, line_end.join(delimiter.join(row) for row in quoted))

    assert blocks == (
        Block(
            BlockKind.TABLE,
            ("| 0012 | NA | 3,5 j. ouvrés |", "| 0013 | FR |  |"),
            header=("| Code | Pays | Délai |", "| --- | --- | --- |"),
        ),
    )


def test_quoted_values_keep_signs_quotes_and_lines(tmp_path: Path) -> None:
    """What quotes hold belongs to one value."""
    blocks = blocks_of(tmp_path, 'nom;note\nQuai 4;"a; ""b""\nsuite | fin"\n', "cp1252")

    assert blocks[0].parts == ('| Quai 4 | a; "b" suite \\| fin |',)


def test_rows_of_uneven_length_and_one_column_are_kept(tmp_path: Path) -> None:
    """Nothing is lost where a file is not regular."""
    uneven = blocks_of(tmp_path, "a,b\nc\nd,e,f\n")

    assert uneven[0].parts == ("| a | b |  |", "| c |  |  |", "| d | e | f |")
    assert blocks_of(tmp_path, "Été\nHiver\n") == (paragraph("Été"), paragraph("Hiver"))


def test_too_many_cells_are_refused(tmp_path: Path) -> None:
    """The limit is named."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"1,2,3\n" * 5)

    with pytest.raises(FileRefused, match="more than 14 cells") as raised:
        extract(path, ExtractionLimits(cells=14))

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED
