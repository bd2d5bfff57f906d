"""Files of every usual kind that the ingestion benchmark reads, always the same ones."""

import random
from collections.abc import Mapping
from pathlib import Path

import docx
from openpyxl import Workbook
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

PAGES = 40
_LINES = 48
_ROWS = 2_000
_WORDS = [
    "navire",
    "quai",
    "conteneur",
    "délai",
    "déclaration",
    "été",
    "fret",
    "armateur",
    "escale",
    "port",
    "douane",
    "cargaison",
    "retard",
    "lundi",
    "expédition",
    "œuvre",
    "client",
    "livraison",
    "réserve",
    "avenant",
    "janvier",
    "contrat",
    "qualité",
]


def written_files(folder: Path) -> Mapping[str, Path]:
    """Writes the files into a folder; returns them by their ending."""
    rng = random.Random(20240117)
    writers = {".pdf": _pdf, ".docx": _docx, ".xlsx": _xlsx, ".html": _html, ".csv": _csv}
    paths = {}
    for suffix, write in writers.items():
        paths[suffix] = folder / f"file{suffix}"
        write(paths[suffix], rng)
    return paths


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=12)).capitalize() + "."


def _pdf(path: Path, rng: random.Random) -> None:
    canvas = Canvas(str(path), pagesize=A4)
    for number in range(1, PAGES + 1):
        text = canvas.beginText(60, 780)
        text.setFont("Helvetica-Bold", 16)
        text.textLine(f"Chapitre {number}")
        text.setFont("Helvetica", 10)
        for _ in range(_LINES):
            text.textLine(_sentence(rng))
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()


def _docx(path: Path, rng: random.Random) -> None:
    document = docx.Document()
    for number in range(1, PAGES + 1):
        document.add_heading(f"Chapitre {number}", 1)
        for _ in range(_LINES // 4):
            document.add_paragraph(" ".join(_sentence(rng) for _ in range(4)))
    document.save(str(path))


def _xlsx(path: Path, rng: random.Random) -> None:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Escales")
    for row in _rows(rng):
        sheet.append(row)
    workbook.save(path)


def _html(path: Path, rng: random.Random) -> None:
    chapters = "".join(
        f"<h2>Chapitre {number}</h2>"
        + "".join(f"<p>{_sentence(rng)} {_sentence(rng)}</p>" for _ in range(_LINES // 2))
        for number in range(1, PAGES + 1)
    )
    path.write_text(f"<html lang=fr><body><h1>Guide</h1>{chapters}</body></html>", "utf-8")


def _csv(path: Path, rng: random.Random) -> None:
    path.write_text("\n".join(";".join(row) for row in _rows(rng)), "utf-8")


def _rows(rng: random.Random) -> list[list[str]]:
    rows = [["Code", "Port", "Jour", "Note"]]
    rows += [
        [f"{n:05}", rng.choice(_WORDS), f"2024-01-{n % 28 + 1:02}", _sentence(rng)]
        for n in range(_ROWS)
    ]
    return rows
