"""Which files are read, and what is refused before any parser sees it."""

import io
import zipfile
from pathlib import Path

import pytest

from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason
from gateway.ingestion.extraction.registry import extract_file, suffix_of
from tests.fakes.office import excel_file, slides_file, word_file
from tests.fakes.old_excel import old_excel_file
from tests.fakes.pdf import pdf_file

LIMITS = ExtractionLimits()
ENCRYPTED_OFFICE = (
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le")
)


def zip_file(entries: dict[str, bytes]) -> bytes:
    """An archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def overlapping_zip() -> bytes:
    """An archive whose two entries share one body."""
    archive = zip_file({"a": b"shared body"})
    directory = archive.rindex(b"PK\x01\x02")
    end = archive.rindex(b"PK\x05\x06")
    entry = archive[directory:end]
    twice = archive[:directory] + entry + entry.replace(b"a", b"b")
    size = (2 * len(entry)).to_bytes(4, "little")
    return twice + b"PK\x05\x06" + bytes(4) + b"\x02\x00\x02\x00" + size + archive[end + 16 :]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.MD", ".md"), ("dossier/x.y.pdf", ".pdf"), ("C:\\notes\\lettre.Docx", ".docx")],
)
def test_the_ending_decides_whatever_its_case(name: str, suffix: str) -> None:
    """Folders in the name do not matter."""
    assert suffix_of(name) == suffix


@pytest.mark.parametrize("name", ["a.doc", "README", ".md", "a.pdf/b", "pdf"])
def test_other_endings_are_refused_with_the_ones_that_are_read(name: str) -> None:
    """The answer says what to send instead."""
    with pytest.raises(FileRefused, match=r"\.docx.*\.pdf") as raised:
        suffix_of(name)

    assert raised.value.reason is RefusalReason.UNSUPPORTED_TYPE


@pytest.mark.parametrize(
    ("suffix", "data", "text"),
    [
        (".md", "# Été".encode(), "Été"),
        (".txt", "été".encode("cp1252"), "été"),
        (".html", b"<p>bonjour</p>", "bonjour"),
        (".pdf", pdf_file([["Bonjour à tous"]]), "Bonjour à tous"),
        (".docx", word_file("Bonjour."), "Bonjour."),
        (".xlsx", excel_file(["a", "b"]), "Sheet\n| a | b |"),
        (".xls", old_excel_file(["a", "b"]), "Feuille\n| a | b |"),
        (".csv", "été;1\nhiver;2".encode("cp1252"), "| été | 1 |\n| hiver | 2 |"),
        (".pptx", slides_file("Été"), "Été"),
    ],
)
def test_every_type_is_read(tmp_path: Path, suffix: str, data: bytes, text: str) -> None:
    """One extractor for each ending, found by name."""
    path = tmp_path / "upload"
    path.write_bytes(data)

    extraction = extract_file(path, suffix, LIMITS)

    assert "\n".join(block.text for block in extraction.blocks) == text


@pytest.mark.parametrize(
    ("suffix", "data", "reason"),
    [
        (".pdf", b"just words", RefusalReason.TYPE_MISMATCH),
        (".docx", excel_file(["a", "b"]), RefusalReason.TYPE_MISMATCH),
        (".xlsx", word_file("Bonjour."), RefusalReason.TYPE_MISMATCH),
        (".docx", pdf_file([["x"]]), RefusalReason.TYPE_MISMATCH),
        (".md", pdf_file([["x"]]), RefusalReason.TYPE_MISMATCH),
        (".txt", b"\x89PNG\r\n\x1a\n\x00\x00", RefusalReason.TYPE_MISMATCH),
        (".html", bytes(range(256)) * 4 + bytes(64), RefusalReason.TYPE_MISMATCH),
        (".docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), RefusalReason.TYPE_MISMATCH),
        (".docx", zip_file({"a.txt": b"a"}), RefusalReason.TYPE_MISMATCH),
        (".xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), RefusalReason.TYPE_MISMATCH),
        (".xls", excel_file(["a", "b"]), RefusalReason.TYPE_MISMATCH),
        (".pptx", word_file("Bonjour."), RefusalReason.TYPE_MISMATCH),
        (".csv", pdf_file([["x"]]), RefusalReason.TYPE_MISMATCH),
        (".pptx", ENCRYPTED_OFFICE, RefusalReason.PASSWORD_PROTECTED),
        (".pptx", slides_file("Été")[:900], RefusalReason.UNREADABLE_FILE),
        (".docx", ENCRYPTED_OFFICE, RefusalReason.PASSWORD_PROTECTED),
        (".xlsx", ENCRYPTED_OFFICE, RefusalReason.PASSWORD_PROTECTED),
        (".docx", word_file("Bonjour.")[:700], RefusalReason.UNREADABLE_FILE),
        (".docx", overlapping_zip(), RefusalReason.UNREADABLE_FILE),
        (".docx", bytes(100) + word_file("Bonjour."), RefusalReason.UNREADABLE_FILE),
        (".md", b" \n\n", RefusalReason.NO_TEXT),
        (".txt", b"\x01\x02", RefusalReason.NO_TEXT),
        (".pdf", pdf_file([[]]), RefusalReason.NO_TEXT),
        (".html", b"<script>x</script>", RefusalReason.NO_TEXT),
    ],
)
def test_files_that_are_not_what_they_say_are_refused(
    tmp_path: Path, suffix: str, data: bytes, reason: RefusalReason
) -> None:
    """The reason is typed, and the sentence has no technical words for a user to puzzle over."""
    path = tmp_path / "upload"
    path.write_bytes(data)

    with pytest.raises(FileRefused) as raised:
        extract_file(path, suffix, LIMITS)

    assert raised.value.reason is reason
    assert "Error" not in raised.value.message


@pytest.mark.parametrize(
    ("entries", "limits", "named"),
    [
        ({f"{n}": b"" for n in range(5)}, ExtractionLimits(archive_entries=4), "5 entries"),
        ({"word/a": bytes(2**21)}, LIMITS, "times its size"),
        ({"a": b"x" * 600, "b": b"y" * 600}, ExtractionLimits(archive_bytes=1000), "1200 bytes"),
    ],
    ids=["entries", "ratio", "total"],
)
def test_bombs_are_refused_before_any_parser(
    tmp_path: Path, entries: dict[str, bytes], limits: ExtractionLimits, named: str
) -> None:
    """Too many entries, too dense or too large: the limit is named."""
    path = tmp_path / "upload"
    path.write_bytes(zip_file({"[Content_Types].xml": b"", **entries}))
    expected = named.replace("5 entries", "6 entries")

    with pytest.raises(FileRefused, match=expected) as raised:
        extract_file(path, ".docx", limits)

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED


def test_more_text_than_the_limit_is_refused(tmp_path: Path) -> None:
    """The limit is named."""
    path = tmp_path / "upload"
    path.write_bytes(b"abcdef")

    with pytest.raises(FileRefused, match="more than 5 characters"):
        extract_file(path, ".txt", ExtractionLimits(characters=5))


def test_unreadable_characters_are_dropped_with_a_warning(tmp_path: Path) -> None:
    """The number dropped is named; what is left is stored."""
    path = tmp_path / "upload"
    path.write_bytes(b"a\x00b\n\n\x01\n\n" + b"c" * 200)

    extraction = extract_file(path, ".txt", LIMITS)

    assert [block.text for block in extraction.blocks] == ["ab", "c" * 200]
    assert extraction.warnings == ("unreadable characters dropped: 2",)
