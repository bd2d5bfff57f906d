"""Numbers that Word shows but does not write."""

from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import XmlPart
from docx.oxml import parse_xml

from gateway.ingestion.extraction.docx import extract
from gateway.ingestion.extraction.docx_numbering import Numberings
from gateway.ingestion.extraction.limits import ExtractionLimits

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
ARTICLES = (("decimal", "Article %1"), ("decimal", "%1.%2"), ("lowerLetter", "%3)"))


def level(depth: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    """One level of an abstract numbering."""
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(levels: str, *nums: str) -> str:
    """A numbering part of one abstract numbering and `nums`, numbered from 1."""
    named = "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="7"/>{num}</w:num>'
        for n, num in enumerate(nums or ("",), start=1)
    )
    return (
        f"<w:numbering {NAMESPACE}>"
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>{named}</w:numbering>'
    )


def labels(part: str, *paragraphs: tuple[str, int]) -> list[str]:
    """The labels of paragraphs given by numbering and depth."""
    counting = Numberings(parse_xml(part))
    return [counting.label(num, depth) for num, depth in paragraphs]


def levels(*forms: tuple[str, str]) -> str:
    """Levels from depth 0 on."""
    return "".join(level(depth, form, text) for depth, (form, text) in enumerate(forms))


def test_depths_count_each_and_start_anew_below_a_higher_one() -> None:
    """Labels name the numbers above as their text says."""
    shown = labels(
        numbering(levels(*ARTICLES)),
        *[("1", depth) for depth in (0, 1, 2, 2, 1, 2, 0, 1, 2)],
    )

    assert shown == ["Article 1", "1.1", "a)", "b)", "1.2", "a)", "Article 2", "2.1", "a)"]


def test_a_skipped_depth_is_begun() -> None:
    """As Word does: the next item of that depth is the second."""
    part = numbering(levels(*ARTICLES))

    assert labels(part, ("1", 1), ("1", 0), ("1", 1)) == ["1.1", "Article 2", "2.1"]


@pytest.mark.parametrize(
    ("form", "numbers"),
    [
        ("decimal", ["1", "2", "28"]),
        ("decimalZero", ["01", "02", "28"]),
        ("lowerLetter", ["a", "b", "bb"]),
        ("upperLetter", ["A", "B", "BB"]),
        ("lowerRoman", ["i", "ii", "xxviii"]),
        ("upperRoman", ["I", "II", "XXVIII"]),
        ("cardinalText", ["1", "2", "28"]),
        ("none", ["", "", ""]),
        ("bullet", ["", "", ""]),
    ],
)
def test_numbers_are_written_in_their_form(form: str, numbers: list[str]) -> None:
    """Letters are doubled after z; forms nobody knows are written as digits."""
    shown = labels(numbering(level(0, form, "%1")), *[("1", 0)] * 28)

    assert [shown[0], shown[1], shown[27]] == numbers


def test_numberings_of_one_kind_count_on_unless_they_say_where_to_start() -> None:
    """An override counts once, at the first paragraph of its numbering."""
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="6"/></w:lvlOverride>'
    part = numbering(level(0, "decimal", "%1."), "", "", override)

    shown = labels(part, ("1", 0), ("2", 0), ("3", 0), ("3", 0), ("1", 0))

    assert shown == ["1.", "2.", "6.", "7.", "8."]


def test_a_numbering_can_replace_a_level() -> None:
    """Its own format counts instead of the shared one."""
    own = f'<w:lvlOverride w:ilvl="0">{level(0, "upperLetter", "§ %1", start=3)}</w:lvlOverride>'

    assert labels(numbering(level(0, "decimal", "%1"), own), ("1", 0), ("1", 0)) == ["§ C", "§ D"]


def test_a_depth_may_count_on_across_higher_ones() -> None:
    """Restart 0: articles numbered through all chapters; legal style writes digits above."""
    part = numbering(
        level(0, "upperRoman", "Chapitre %1")
        + level(1, "decimal", "%1-%2", '<w:lvlRestart w:val="0"/><w:isLgl/>')
    )

    shown = labels(part, ("1", 0), ("1", 1), ("1", 0), ("1", 1))

    assert shown == ["Chapitre I", "1-1", "Chapitre II", "2-2"]


@pytest.mark.parametrize(
    "part",
    [
        f"<w:numbering {NAMESPACE}/>",
        numbering(""),
        numbering(level(0, "decimal", "%1", start=10**12)),
        numbering('<w:lvl w:ilvl="x"/>'),
        numbering(level(0, "lowerRoman", "%1", start=9999)),
        numbering(level(0, "lowerLetter", "%1%9", start=9999)),
    ],
)
def test_odd_numberings_cost_at_most_their_label(part: str) -> None:
    """Missing levels, absurd numbers and texts make no error and no long label."""
    assert all(len(label) < 20 for label in labels(part, ("1", 0), ("1", 8), ("nowhere", 0)))


def numbered(document: Document, text: str, num: str, depth: int, style: str = "Normal") -> None:
    """Adds a paragraph with a numbering of its own."""
    properties = document.add_paragraph(text, style=style)._p.get_or_add_pPr()
    properties.append(
        parse_xml(
            f'<w:numPr {NAMESPACE}><w:ilvl w:val="{depth}"/><w:numId w:val="{num}"/></w:numPr>'
        )
    )


def test_items_and_headings_carry_their_numbers(tmp_path: Path) -> None:
    """Bullets stay bullets, numbering 0 takes a number away, empty items are counted."""
    document = docx.Document()
    part = document.part.part_related_by(RELATIONSHIP_TYPE.NUMBERING)
    assert isinstance(part, XmlPart)
    part._element = parse_xml(
        numbering(levels(("decimal", "%1."), ("bullet", "•"), ("lowerRoman", "%3)")))
    )
    numbered(document, "Livraison", "1", 0, "Heading 1")
    document.add_paragraph("Texte.")
    numbered(document, "Retard", "1", 0, "Heading 1")
    numbered(document, "prévenir", "1", 1)
    numbered(document, "attendre", "1", 2)
    numbered(document, "", "1", 2)
    numbered(document, "facturer", "1", 2)
    numbered(document, "Sans numéro", "0", 0, "List Number")
    path = tmp_path / "file.docx"
    document.save(str(path))

    texts = [block.text for block in extract(path, ExtractionLimits()).blocks]

    assert texts == [
        "1. Livraison",
        "Texte.",
        "2. Retard",
        "  - prévenir\n    i) attendre\n    iii) facturer",
        "Sans numéro",
    ]
