"""Text in images: whole files of them, and pages of PDF files."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont
import pytest

from gateway.ingestion.extraction.blocks import Block, Extraction, paragraph
from gateway.ingestion.extraction.image_pages import with_image_texts
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason, unreadable
from tests.fakes.pdf import pdf_file
from tests.fakes.tesseract import install_tesseract

LIMITS = ExtractionLimits(ocr_seconds=5, image_pixels=2_000_000)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that reading processes find programs in, still empty."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
async def processes(programs: Path) -> AsyncIterator[ExtractionProcesses]:
    """One reading process."""
    made = ExtractionProcesses(LIMITS, count=1)
    yield made
    await made.close()


def image_file(folder: Path, *sizes: tuple[int, int], suffix: str = ".tiff") -> Path:
    """Writes an image with a frame of each size."""
    frames = [PIL.Image.new("L", size, "white") for size in sizes]
    path = folder / f"upload{suffix}"
    if len(frames) > 1:
        frames[0].save(path, save_all=True, append_images=frames[1:])
    else:
        frames[0].save(path)
    return path


def read_of(width: int, height: int, page: int) -> list[Block]:
    """What the fake program reads."""
    location = f"page {page}"
    first = f"Image de {width} sur {height}, lue en fra+eng, porteconteneurs"
    return [paragraph(first, location), paragraph("À l’été", location)]


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".webp", ".gif"])
async def test_images_are_read(
    tmp_path: Path, programs: Path, processes: ExtractionProcesses, suffix: str
) -> None:
    """Small ones are enlarged; paragraphs without words are left out."""
    install_tesseract(programs)

    extraction = await processes.extract(image_file(tmp_path, (30, 20), suffix=suffix), suffix)

    assert list(extraction.blocks) == read_of(60, 40, 1)
    assert extraction.warnings == ("pages read in their images, where mistakes are likelier: 1",)


async def test_pages_are_read_one_by_one(
    tmp_path: Path, programs: Path, processes: ExtractionProcesses
) -> None:
    """A page that is damaged, takes too long or is too large costs itself only."""
    install_tesseract(programs, broken=(40, 40), slow=(50, 50))
    path = image_file(tmp_path, (10, 10), (20, 20), (2000, 2000), (30, 30))

    extraction = await processes.extract(path, ".tiff")

    assert list(extraction.blocks) == [*read_of(20, 20, 1), *read_of(60, 60, 4)]
    assert extraction.warnings == (
        "pages read in their images, where mistakes are likelier: 1, 4",
        "page 2: the image is damaged, or larger than its reader can hold",
        "page 3: the image has 4000000 pixels, at most 2000000 are read",
    )


async def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path, programs: Path) -> None:
    """The limit is named, and the program does not outlive it."""
    install_tesseract(programs, slow=(20, 20))
    processes = ExtractionProcesses(ExtractionLimits(ocr_seconds=0.5), count=1)

    with pytest.raises(FileRefused, match=r"more than 0\.5 s") as raised:
        await processes.extract(image_file(tmp_path, (10, 10)), ".tiff")
    await processes.close()

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED


async def test_pages_without_text_in_a_pdf_are_read_in_their_images(
    tmp_path: Path, programs: Path, processes: ExtractionProcesses
) -> None:
    """They come in their places; pages with nothing on them are only named."""
    install_tesseract(programs)
    path = tmp_path / "upload.pdf"
    path.write_bytes(pdf_file([["Un"], [], ["~ drawn"], ["Quatre"]]))

    extraction = await processes.extract(path, ".pdf")

    locations = [block.location for block in extraction.blocks]
    assert locations == ["page 1", "page 3", "page 3", "page 4"]
    assert extraction.warnings == (
        "pages without text: 2",
        "pages read in their images, where mistakes are likelier: 3",
    )


@pytest.mark.parametrize(
    ("languages", "named"), [(None, "tesseract-ocr"), (("deu",), "French or English")]
)
async def test_what_is_missing_is_named(
    tmp_path: Path,
    programs: Path,
    processes: ExtractionProcesses,
    languages: tuple[str, ...] | None,
    named: str,
) -> None:
    """Images are refused; the other pages of a PDF are read all the same."""
    if languages is not None:
        install_tesseract(programs, languages=languages)
    path = tmp_path / "upload.pdf"
    path.write_bytes(pdf_file([["Un"], ["~ drawn"]]))

    with pytest.raises(FileRefused, match=named) as raised:
        await processes.extract(image_file(tmp_path, (10, 10)), ".tiff")
    extraction = await processes.extract(path, ".pdf")

    assert raised.value.reason is RefusalReason.OCR_UNAVAILABLE
    assert [block.text for block in extraction.blocks] == ["Un"]
    assert extraction.warnings[0].startswith("pages whose text is in images: 2; reading them needs")


async def test_only_so_many_pages_are_read() -> None:
    """The others are named; a file in which nothing is found is refused with the first reason."""
    scan = Extraction((), image_pages=(1, 2, 3, 4))

    async def page(number: int) -> Extraction:
        return Extraction((paragraph("Texte", f"page {number}"),) if number == 1 else ())

    async def damaged(number: int) -> Extraction:
        raise unreadable(f"tear {number}")

    read = await with_image_texts(scan, page, 2)
    with pytest.raises(FileRefused, match="page 1: tear 1") as raised:
        await with_image_texts(scan, damaged, 2)

    assert read.warnings[1:] == (
        "pages whose images hold no text: 2",
        "images of at most 2 pages are read, not these: 3-4",
    )
    assert raised.value.reason is RefusalReason.UNREADABLE_FILE


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
async def test_tesseract_reads_french(tmp_path: Path) -> None:
    """The program takes the image from its pipe, within the limits of the process."""
    image = PIL.Image.new("RGBA", (1400, 200), (0, 0, 0, 0))
    drawing = PIL.ImageDraw.Draw(image)
    font = PIL.ImageFont.load_default(60)
    drawing.text((40, 60), "Le navire attend au quai depuis lundi", "black", font=font)
    path = tmp_path / "upload.png"
    image.save(path)
    processes = ExtractionProcesses(ExtractionLimits(), count=1)

    extraction = await processes.extract(path, ".png")
    await processes.close()

    assert [block.text for block in extraction.blocks] == ["Le navire attend au quai depuis lundi"]
