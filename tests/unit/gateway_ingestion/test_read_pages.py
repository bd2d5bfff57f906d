"""Pages that were read in their images are not read again by the next attempt."""

import os
from pathlib import Path

import PIL.Image
import pytest

from chassis.errors import Unavailable
from gateway.ingestion.extraction.blocks import Extraction, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.read_pages import ReadPages, ReadPagesFolder
from gateway.ingestion.extraction.refusals import FileRefused
from tests.fakes.ingestion_desk import Desk
from tests.fakes.tesseract import install_tesseract

PAGE = Extraction((paragraph("À l'été", "page 2"),), warnings=("un signe",))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that reading processes find programs in, with an OCR program."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    install_tesseract(folder)
    return folder


def scan(folder: Path, *widths: int) -> Path:
    """An image of pages that are 10 high."""
    path = folder / "scan.tiff"
    first, *others = [PIL.Image.new("L", (width, 10), "white") for width in widths]
    first.save(path, save_all=True, append_images=others)
    return path


def test_a_page_comes_back_as_it_was_read(tmp_path: Path) -> None:
    """A page without text counts as read; what is damaged on disk does not."""
    pages = ReadPagesFolder(tmp_path).of("a" * 64)
    pages.put(2, PAGE)
    pages.put(3, Extraction(()))
    pages.put(4, PAGE)
    (pages.folder / "4.json").write_bytes(b'{"extraction": {')

    assert pages.get(1) is None
    assert (pages.get(2), pages.get(3)) == (PAGE, Extraction(()))
    assert pages.get(4) is None
    pages.forget()
    pages.forget()
    assert list(tmp_path.iterdir()) == []


def test_files_do_not_share_pages_and_old_ones_are_swept(tmp_path: Path) -> None:
    """Only those that nobody came back to for long enough."""
    folder = ReadPagesFolder(tmp_path)
    folder.of("a" * 64).put(1, PAGE)
    folder.of("b" * 64).put(1, Extraction(()))
    os.utime(folder.of("a" * 64).folder, (0, 0))

    assert folder.of("b" * 64).get(1) == Extraction(())
    assert folder.sweep(3600.0) == 1
    assert folder.of("a" * 64).get(1) is None
    assert ReadPagesFolder(tmp_path / "nowhere").sweep(0.0) == 0


def test_a_place_that_cannot_be_written_costs_the_reuse_only(tmp_path: Path) -> None:
    """Reading goes on."""
    (tmp_path / "file").write_text("no folder")
    pages = ReadPages(tmp_path / "file" / "below")
    pages.put(1, PAGE)

    assert pages.get(1) is None


async def test_the_next_attempt_reads_only_what_the_first_did_not(
    tmp_path: Path, programs: Path
) -> None:
    """Also where the program is another by then: what was read stays."""
    processes = ExtractionProcesses(ExtractionLimits(ocr_seconds=5), count=1)
    pages = ReadPagesFolder(tmp_path / "pages").of("a" * 64)
    install_tesseract(programs, broken=(40, 20))
    path = scan(tmp_path, 10, 20, 30)
    first = await processes.extract(path, ".tiff", pages)
    install_tesseract(programs, broken=(20, 20))
    second = await processes.extract(path, ".tiff", pages)
    await processes.close()

    assert [block.location for block in first.blocks] == ["page 1"] * 2 + ["page 3"] * 2
    assert "page 2" in first.warnings[1]
    assert [block.location for block in second.blocks] == [
        location for page in ("page 1", "page 2", "page 3") for location in [page] * 2
    ]
    assert len(second.warnings) == 1


async def test_pages_stay_until_their_document_is_stored(
    desk: Desk, tmp_path: Path, programs: Path
) -> None:
    """A failure after reading keeps them; a success removes them."""
    data = scan(tmp_path, 10, 20).read_bytes()
    left = desk.folder / "read-pages"
    desk.store.upsert_error = Unavailable("the retriever cannot be reached")
    with pytest.raises(Unavailable):
        await desk.take_in(data, "scan.tiff")
    kept = sorted(path.name for path in left.rglob("*.json"))
    install_tesseract(programs, broken=(20, 20))
    desk.store.upsert_error = None
    report = await desk.take_in(data, "scan.tiff")

    assert kept == ["1.json", "2.json"]
    assert report.passage_count == 1
    assert list(left.iterdir()) == []


async def test_a_refused_page_is_not_kept(tmp_path: Path, programs: Path) -> None:
    """It may have been a matter of time."""
    processes = ExtractionProcesses(ExtractionLimits(ocr_seconds=5), count=1)
    install_tesseract(programs, broken=(20, 20))
    pages = ReadPagesFolder(tmp_path / "pages").of("a" * 64)
    with pytest.raises(FileRefused):
        await processes.extract(scan(tmp_path, 10), ".tiff", pages)
    await processes.close()

    assert pages.get(1) is None
