"""Damaged files are read or refused; nothing else can happen."""

import random
from pathlib import Path

import pytest

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.refusals import FileRefused
from tests.fakes.office import excel_file, slides_file, word_file
from tests.fakes.old_excel import old_excel_file
from tests.fakes.pdf import pdf_file

_ROWS: list[list[str | float]] = [["Quai", n, "jours"] for n in range(30)]
FILES = {
    ".pdf": pdf_file([["Délais de livraison"] * 5] * 3),
    ".docx": word_file(*["Le navire attend au large."] * 20),
    ".xlsx": excel_file(*_ROWS),
    ".xls": old_excel_file(*_ROWS),
    ".pptx": slides_file("Délais", "Quais", "Jours"),
    ".csv": 'quai;délai\n4;"48 h"\n'.encode() * 20,
    ".html": b"<html><body><h1>T</h1><table><tr><td>a<td>b<tr><td>c</table>" * 5,
    ".md": "---\ntitle: T\n---\n# Été\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n".encode() * 5,
}
_COUNT, _SOAK_COUNT = 50, 500


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Cuts, overwrites, removes or doubles some of the bytes."""
    damage = bytearray(data)
    place = rng.randrange(len(damage))
    match rng.randrange(4):
        case 0:
            del damage[place:]
        case 1:
            for _ in range(rng.randrange(1, 50)):
                damage[rng.randrange(len(damage))] = rng.randrange(256)
        case 2:
            del damage[place : place + rng.randrange(1, 500)]
        case 3:
            damage[place:place] = damage[: rng.randrange(1, 500)]
    return bytes(damage)


@pytest.mark.parametrize("suffix", FILES)
async def test_a_damaged_file_is_read_or_refused(tmp_path: Path, suffix: str, soak: bool) -> None:
    """Some damages of each type, always the same ones; the next file is read as ever."""
    rng = random.Random(suffix)
    processes = ExtractionProcesses(ExtractionLimits(wall_seconds=20), count=1)
    path = tmp_path / "upload"
    answers: list[Extraction | FileRefused] = []
    count = -(-(_SOAK_COUNT if soak else _COUNT) // len(FILES))
    for _ in range(count):
        path.write_bytes(damaged(FILES[suffix], rng))
        try:
            answers.append(await processes.extract(path, suffix))
        except FileRefused as refusal:
            answers.append(refusal)
    path.write_bytes(FILES[suffix])
    whole = await processes.extract(path, suffix)
    await processes.close()

    assert len(answers) == count
    assert whole.blocks
