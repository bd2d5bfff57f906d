"""Damaged files are read or refused; nothing else can happen."""

import random
from pathlib import Path

import pytest

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.refusals import FileRefused
from tests.fakes.office import excel_file, word_file
from tests.fakes.pdf import pdf_file

FILES = {
    ".pdf": pdf_file([["Délais de livraison"] * 5] * 3),
    ".docx": word_file(*["Le navire attend au large."] * 20),
    ".xlsx": excel_file(*[["Quai", n, "jours"] for n in range(30)]),
    ".html": b"<html><body><h1>T</h1><table><tr><td>a<td>b<tr><td>c</table>" * 5,
    ".md": "---\ntitle: T\n---\n# Été\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n".encode() * 5,
}


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
async def test_a_damaged_file_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    """Twelve damages of each type, always the same ones."""
    rng = random.Random(suffix)
    processes = ExtractionProcesses(ExtractionLimits(wall_seconds=20), count=1)
    path = tmp_path / "upload"
    answers: list[Extraction | FileRefused] = []
    for _ in range(12):
        path.write_bytes(damaged(FILES[suffix], rng))
        try:
            answers.append(await processes.extract(path, suffix))
        except FileRefused as refusal:
            answers.append(refusal)
    path.write_bytes(FILES[suffix])
    whole = await processes.extract(path, suffix)
    await processes.close()

    assert len(answers) == 12
    assert whole.blocks
