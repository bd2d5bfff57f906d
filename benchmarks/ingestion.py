"""What extraction and chunking cost, as multiples of the bare parser and of markitdown.

All read the same files in one process, rounds interleaved; what counts is processor time. The
bare parser only fetches the text; markitdown turns files into Markdown, and its figures are left
out where it is not installed.
"""

import csv
import importlib
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import docx
import pypdfium2  # type: ignore[import-untyped]
from python_calamine import CalamineWorkbook
from selectolax.lexbor import LexborHTMLParser

from benchmarks.ingestion_files import PAGES, written_files
from gateway.ingestion.chunking.chunker import cut
from gateway.ingestion.chunking.measures import token_measure
from gateway.ingestion.chunking.profiles import DEFAULT_PROFILE, PROFILES
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.registry import extract_file

Reading = Callable[[Path], object]

_LIMITS = ExtractionLimits()
_TOKENS = token_measure()


def measure(quick: bool) -> dict[str, float]:
    """Returns ratios of median times by ending, and pages and megabytes a second of one core."""
    markitdown = _markitdown()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for suffix, path in written_files(Path(folder)).items():
            readings: dict[str, Reading] = {"ours": _ours, "bare": _BARE[suffix]}
            if markitdown is not None:
                readings["markitdown"] = markitdown
            seconds = _medians(readings, path, 3 if quick else 7)
            for other in list(readings)[1:]:
                name = "bare parser" if other == "bare" else other
                figures[f"{suffix}: time over {name}"] = seconds["ours"] / seconds[other]
            figures[f"{suffix}: MB/s"] = path.stat().st_size / 1e6 / seconds["ours"]
            if suffix in {".pdf", ".docx"}:
                figures[f"{suffix}: pages/s"] = PAGES / seconds["ours"]
    return figures


def _medians(readings: Mapping[str, Reading], path: Path, rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in readings}
    for round_number in range(rounds + 1):
        for name, read in readings.items():
            started = time.process_time()
            read(path)
            # The first round imports and warms.
            if round_number:
                times[name].append(time.process_time() - started)
    return {name: statistics.median(measured) for name, measured in times.items()}


def _ours(path: Path) -> object:
    extraction = extract_file(path, path.suffix, _LIMITS)
    return cut(extraction.blocks, "", PROFILES[DEFAULT_PROFILE], _TOKENS)


def _markitdown() -> Reading | None:
    if importlib.util.find_spec("markitdown") is None:
        return None
    converter = importlib.import_module("markitdown").MarkItDown()

    def convert(path: Path) -> object:
        return converter.convert(str(path))

    return convert


def _bare_pdf(path: Path) -> object:
    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range() for page in document]


def _bare_docx(path: Path) -> object:
    return [paragraph.text for paragraph in docx.Document(str(path)).paragraphs]


def _bare_xlsx(path: Path) -> object:
    with CalamineWorkbook.from_path(path) as workbook:
        return [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]


def _bare_html(path: Path) -> object:
    tree = LexborHTMLParser(path.read_text("utf-8"))
    return tree.body.text() if tree.body is not None else ""


def _bare_csv(path: Path) -> object:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


_BARE: Mapping[str, Reading] = {
    ".pdf": _bare_pdf,
    ".docx": _bare_docx,
    ".xlsx": _bare_xlsx,
    ".html": _bare_html,
    ".csv": _bare_csv,
}
