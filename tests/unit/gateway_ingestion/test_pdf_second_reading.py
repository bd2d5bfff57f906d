"""Pages that the first reading turns into single letters."""

from pathlib import Path

import pytest

from gateway.ingestion.extraction import pdf
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.pdf_second_reading import SecondReading, is_odd
from tests.fakes.pdf import pdf_file

TEXT = "Le navire attend au large depuis lundi matin et repart vers Rouen quand un quai se libère"


def test_letters_set_wide_are_read_as_words(tmp_path: Path) -> None:
    """The second reading tells blanks between words from gaps between letters."""
    path = tmp_path / "file.pdf"
    path.write_bytes(pdf_file([[TEXT]], letter_gap=200))

    extraction = pdf.extract(path, ExtractionLimits())

    assert [block.text for block in extraction.blocks] == [TEXT]


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        (TEXT, False),
        (" ".join(TEXT), True),
        (TEXT.replace(" ", ""), True),
        ("a b c", False),
        ("北京烤鸭" * 30, False),
        ("12 3 4 " * 50, False),
    ],
    ids=["words", "letters", "no blanks", "short", "unspaced script", "figures"],
)
def test_pages_without_words_are_odd(text: str, odd: bool) -> None:
    """Short pages, figures and scripts without blanks are not."""
    assert is_odd(text) is odd


def test_a_file_that_the_second_reader_cannot_open_gives_nothing(tmp_path: Path) -> None:
    """The first reading is kept then."""
    path = tmp_path / "file.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing")

    assert SecondReading(path).lines(1) == []
