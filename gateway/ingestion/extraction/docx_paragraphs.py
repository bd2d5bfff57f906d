"""Text and roles of Word paragraphs, read from their XML.

Text in hyperlinks, content controls and tracked insertions counts, deleted text does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lxml import etree  # type: ignore[import-untyped]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"

PARAGRAPH, TABLE, ROW, CELL = f"{_W}p", f"{_W}tbl", f"{_W}tr", f"{_W}tc"
TEXT_BOX = f"{_W}txbxContent"
_SKIPPED = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr", TEXT_BOX, _FALLBACK})
_TEXTS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_HEADING_NAME = re.compile(r"(?:heading|titre)\s*([1-9])\Z", re.IGNORECASE)
_CONTENTS_NAME = re.compile(r"(?:toc|tm)\s*\d\Z", re.IGNORECASE)
_DEEPEST_STYLE = 20
_DEEPEST_ITEM = 8


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph is made by its style and itself; `level` is 0 where it is no heading.

    `numbering` is the id of its numbering, empty for a paragraph that is no list item and has no
    number; `depth` counts from 0.
    """

    level: int = 0
    numbering: str = ""
    depth: int = 0
    contents: bool = False


def styles_from(root: etree._Element | None) -> Mapping[str, Style]:
    """Reads the paragraph styles of a document by id, inherited properties included."""
    if root is None:
        return {}
    elements = {
        element.get(f"{_W}styleId", ""): element for element in root.iterchildren(f"{_W}style")
    }
    return {style_id: _style(style_id, elements) for style_id in elements}


def _style(style_id: str, elements: Mapping[str, etree._Element]) -> Style:
    level, contents = 0, False
    numbering: str | None = None
    depth: int | None = None
    for _ in range(_DEEPEST_STYLE):
        element = elements.get(style_id)
        if element is None:
            break
        name = _value(element.find(f"{_W}name"))
        numbered = _HEADING_NAME.match(name)
        if name.lower() == "title":
            level = level or 1
        level = level or (int(numbered.group(1)) if numbered else 0)
        level = level or _outline_level(element.find(f"{_W}pPr"))
        own_numbering, own_depth = _numbering(element.find(f"{_W}pPr"))
        numbering = own_numbering if numbering is None else numbering
        depth = own_depth if depth is None else depth
        contents = contents or _CONTENTS_NAME.match(name) is not None
        style_id = _value(element.find(f"{_W}basedOn"))
    return Style(level, _in_force(numbering), depth or 0, contents)


def style_of(element: etree._Element, styles: Mapping[str, Style]) -> Style:
    """Returns the style of a paragraph, with what the paragraph itself says on top."""
    properties = element.find(f"{_W}pPr")
    if properties is None:
        return styles.get("Normal", Style())
    style = styles.get(_value(properties.find(f"{_W}pStyle")), Style())
    level = _outline_level(properties) or style.level
    numbering, depth = _numbering(properties)
    return Style(
        level,
        style.numbering if numbering is None else _in_force(numbering),
        style.depth if depth is None else depth,
        style.contents,
    )


def text_of(element: etree._Element) -> str:
    """Returns the text of a paragraph, without that of text boxes anchored in it."""
    return "".join(_pieces(element)).strip()


def text_boxes_of(element: etree._Element) -> Iterator[etree._Element]:
    """Yields the contents of the text boxes anchored in a paragraph, each once."""
    for box in element.iter(TEXT_BOX):
        above = [ancestor.tag for ancestor in box.iterancestors()]
        inside = above[: above.index(PARAGRAPH)] if PARAGRAPH in above else above
        if _FALLBACK not in above and TEXT_BOX not in inside:
            yield box


def _pieces(element: etree._Element) -> Iterator[str]:
    for child in element.iterchildren():
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _TEXTS:
            yield _TEXTS[child.tag]
        elif child.tag not in _SKIPPED:
            yield from _pieces(child)


def _numbering(properties: etree._Element | None) -> tuple[str | None, int | None]:
    """Returns the numbering and the depth that properties state, None where they state nothing."""
    stated = properties.find(f"{_W}numPr") if properties is not None else None
    if stated is None:
        return None, None
    numbering = stated.find(f"{_W}numId")
    depth = _value(stated.find(f"{_W}ilvl"))
    return (
        None if numbering is None else _value(numbering),
        min(int(depth), _DEEPEST_ITEM) if depth.isdigit() else None,
    )


def _in_force(numbering: str | None) -> str:
    """Returns the id of a numbering; 0 takes away what a style gives."""
    return "" if numbering in {None, "0"} else str(numbering)


def _outline_level(properties: etree._Element | None) -> int:
    text = _value(properties.find(f"{_W}outlineLvl")) if properties is not None else ""
    return int(text) + 1 if text.isdigit() and int(text) < 9 else 0


def _value(element: etree._Element | None) -> str:
    return (element.get(f"{_W}val") or "") if element is not None else ""
