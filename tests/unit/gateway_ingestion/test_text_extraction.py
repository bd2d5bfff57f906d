"""Plain text: encodings, paragraphs, and characters that cannot be stored."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingestion.extraction import text
from gateway.ingestion.extraction.characters import clean
from gateway.ingestion.extraction.encoding import decode
from gateway.ingestion.extraction.limits import ExtractionLimits

FRENCH = "L’été, un cœur « réglé » coûte 12 € — déjà payé à Besançon."


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "mac_roman"],
)
def test_french_text_is_read_in_any_usual_encoding(encoding: str) -> None:
    """Accents, ligature, quotes, dash and euro sign survive."""
    decoded, _ = decode(FRENCH.encode(encoding))

    assert decoded == FRENCH


def test_old_dos_text_is_recognised() -> None:
    """Code page 850 has the accents elsewhere."""
    decoded, warnings = decode("Délai dépassé à Sète".encode("cp850"))

    assert decoded == "Délai dépassé à Sète"
    assert "cp850" in warnings[0]


@pytest.mark.parametrize(
    "text", ["¿Doações? Não, español.", "a “windows” encoding", "Grüße aus Köln, übermäßig"]
)
def test_neighbouring_languages_are_read_in_windows_1252(text: str) -> None:
    """Their letters are no reason to look for another code page."""
    assert decode(text.encode("cp1252"))[0] == text


def test_broken_utf_8_is_repaired_with_a_warning() -> None:
    """Bytes that are no character show as such; the rest stays."""
    decoded, warnings = decode("\ufeffété".encode() + b"\xff fin")

    assert decoded == "été\N{REPLACEMENT CHARACTER} fin"
    assert warnings


@given(st.binary(max_size=64))
def test_any_bytes_decode(data: bytes) -> None:
    """Decoding never fails."""
    decoded, _ = decode(data)

    assert isinstance(decoded, str)


def test_blank_lines_and_page_breaks_divide_paragraphs(tmp_path: Path) -> None:
    """Lines of one paragraph stay lines."""
    path = tmp_path / "file.txt"
    path.write_bytes(b"un\r\ndeux\r\n \r\ntrois\x0cquatre\r\n\r\n\r\n")

    extraction = text.extract(path, ExtractionLimits())

    assert [block.text for block in extraction.blocks] == ["un\ndeux", "trois", "quatre"]


def test_cleaning_composes_accents_and_drops_what_cannot_be_read() -> None:
    """Ligatures are spelled out, soft hyphens vanish, control codes are counted."""
    cleaned, dropped = clean("e\u0301t\u00e9 \ufb01n co\u00adop\x00\ue000\r\nsuite")

    assert cleaned == "été fin coop\nsuite"
    assert dropped == 2


@given(st.text(max_size=50))
def test_cleaned_text_is_stable_and_storable(source: str) -> None:
    """Cleaning twice changes nothing; the result is NFC without control codes or surrogates."""
    cleaned, _ = clean(source)

    assert clean(cleaned) == (cleaned, 0)
    assert unicodedata.is_normalized("NFC", cleaned)
    cleaned.encode()
    assert not any(unicodedata.category(c) in {"Cs", "Co"} for c in cleaned)
    assert "\x00" not in cleaned
