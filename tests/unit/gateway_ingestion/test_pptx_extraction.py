"""PowerPoint presentations."""

from pathlib import Path

import pptx
import pytest
from pptx.util import Inches

from gateway.ingestion.extraction.blocks import Block, BlockKind, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.pptx import extract
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason

BOX = (Inches(1), Inches(1), Inches(2), Inches(1))


@pytest.fixture
def presentation(tmp_path: Path) -> Path:
    """Two slides with bullets, a table, a group of boxes and notes."""
    deck = pptx.Presentation()
    deck.core_properties.title = "Revue d'été"
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Délais\vde livraison"
    frame = first.placeholders[1].text_frame
    frame.text = "Rouen : 48 h"
    line = frame.add_paragraph()
    line.text, line.level = "sauf août", 1
    first.notes_slide.notes_text_frame.text = "Citer l’avenant n° 3."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, *BOX).table
    for row, texts in enumerate((("Quai", "Jours"), ("Q1", "2"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "Encadré groupé"
    second.shapes.add_textbox(*BOX).text_frame.text = "Pied de page"
    path = tmp_path / "file.pptx"
    deck.save(str(path))
    return path


def test_slides_come_in_order_with_tables_groups_and_notes(presentation: Path) -> None:
    """The title is a heading, bullets keep their depth, every text knows its slide."""
    extraction = extract(presentation, ExtractionLimits())

    assert extraction.blocks == (
        heading("Délais de livraison", 1, "slide 1"),
        Block(BlockKind.LIST, ("- Rouen : 48 h", "  - sauf août"), location="slide 1"),
        paragraph("Citer l’avenant n° 3.", "slide 1"),
        Block(
            BlockKind.TABLE,
            ("| Q1 | 2 |",),
            location="slide 2",
            header=("| Quai | Jours |", "| --- | --- |"),
        ),
        paragraph("Encadré groupé", "slide 2"),
        paragraph("Pied de page", "slide 2"),
    )
    assert extraction.facts.title == "Revue d'été"


@pytest.mark.parametrize(
    ("limits", "named"),
    [(ExtractionLimits(pages=1), "2 slides"), (ExtractionLimits(cells=3), "3 cells")],
    ids=["slides", "cells"],
)
def test_more_than_the_limits_is_refused(
    presentation: Path, limits: ExtractionLimits, named: str
) -> None:
    """The limit is named."""
    with pytest.raises(FileRefused, match=named) as raised:
        extract(presentation, limits)

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED
