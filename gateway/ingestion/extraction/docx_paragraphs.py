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


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style makes of its paragraphs; `level` is 0 where it is no heading."""

    level: int = 0
    listed: bool = False
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
    level, listed, contents = 0, False, False
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
        listed = listed or element.find(f"{_W}pPr/{_W}numPr") is not None
        contents = contents or _CONTENTS_NAME.match(name) is not None
        style_id = _value(element.find(f"{_W}basedOn"))
    return Style(level, listed, contents)


def style_of(element: etree._Element, styles: Mapping[str, Style]) -> Style:
    """Returns the style of a paragraph, with what the paragraph itself says on top."""
    properties = element.find(f"{_W}pPr")
    if properties is None:
        return styles.get("Normal", Style())
    style = styles.get(_value(properties.find(f"{_W}pStyle")), Style())
    level = _outline_level(properties) or style.level
    listed = style.listed or properties.find(f"{_W}numPr") is not None
    return Style(level, listed, style.contents)


def list_depth(element: etree._Element) -> int:
    """Returns how deep a list item stands, from 0."""
    depth = _value(element.find(f"{_W}pPr/{_W}numPr/{_W}ilvl"))
    return min(int(depth), 8) if depth.isdigit() else 0


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


def _outline_level(properties: etree._Element | None) -> int:
    text = _value(properties.find(f"{_W}outlineLvl")) if properties is not None else ""
    return int(text) + 1 if text.isdigit() and int(text) < 9 else 0


def _value(element: etree._Element | None) -> str:
    return (element.get(f"{_W}val") or "") if element is not None else ""
