"""Repairs what typesetting systems leave in the text of PDF files.

Some draw accents as signs of their own beside the letter, and ligatures from places of their fonts
that mean something else everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_MARKS = {
    "\u00b4": "\u0301",
    "\u00a8": "\u0308",
    "\u00b8": "\u0327",
    "\u02c6": "\u0302",
    "\u02c7": "\u030c",
    "\u02d8": "\u0306",
    "\u02da": "\u030a",
    "\u02dc": "\u0303",
    "\u02dd": "\u030b",
    "`": "\u0300",
}
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_ACCENTS = "".join(_MARKS)
_LETTER = r"[^\W\d_]"
_BEFORE = re.compile(rf"([{_ACCENTS}])({_LETTER})")
_AFTER = re.compile(rf"({_LETTER})([{_ACCENTS}])")
_INSIDE = re.compile(rf"{_LETTER}[{_ACCENTS}]|[{_ACCENTS}]{_LETTER}")
_AT_WORD_START = re.compile(rf"(?<!\w)([{_ACCENTS}])({_LETTER})")
_AT_WORD_END = re.compile(rf"({_LETTER})([{_ACCENTS}])(?!\w)")
_WITHIN_WORD = re.compile(rf"{_LETTER}`{_LETTER}")
# The sign is typed for an apostrophe where it follows nothing but these.
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)\u00b4(?=\w)", re.IGNORECASE)
_LIGATURES = {"\u21b5": "ff", "\x0b": "ff", "\x0e": "ffi", "\x0f": "ffl"}
_LIGATURE = re.compile(rf"[{''.join(_LIGATURES)}](?=[a-zß-ÿ])|(?<=[a-zß-ÿ])[{''.join(_LIGATURES)}]")

# Fonts that show "ff" as an arrow give "ffi", by far the most usual of the others, no meaning.
_UNKNOWN_LIGATURE = re.compile("(?<=[a-zß-ÿ])\0(?=[a-zß-ÿ])")


def repaired(texts: Sequence[str]) -> list[str]:
    """Returns the texts of a document with ligatures spelt out and accents on their letters.

    Whether accents stand before or after their letters is told from the document as a whole;
    a backquote at the edge of a word is left alone, since it may quote.
    """
    spelt = [_LIGATURE.sub(lambda sign: _LIGATURES[sign.group()], text) for text in texts]
    if any("\u21b5" in text for text in texts):
        spelt = [_UNKNOWN_LIGATURE.sub("ffi", text) for text in spelt]
    if not any(_INSIDE.search(text) for text in spelt):
        return spelt
    whole = "\n".join(spelt)
    acutes = re.findall("\u00b4", whole)
    apostrophes = _ELIDED.findall(whole)
    if acutes and len(acutes) == len(apostrophes):
        return [text.replace("\u00b4", "\u2019") for text in spelt]
    first, second = (_BEFORE, _AFTER) if _stand_before(spelt) else (_AFTER, _BEFORE)
    return [second.sub(_composed, first.sub(_composed, text)) for text in spelt]


def _stand_before(texts: Iterable[str]) -> bool:
    before = after = 0
    for text in texts:
        before += sum(_composed(found) != found.group() for found in _AT_WORD_START.finditer(text))
        after += sum(_composed(found) != found.group() for found in _AT_WORD_END.finditer(text))
    return before >= after


def _composed(found: re.Match[str]) -> str:
    first, second = found.groups()
    accent, letter = (first, second) if first in _MARKS else (second, first)
    if accent == "`":
        place = found.start() if first == accent else found.end() - 1
        if not _WITHIN_WORD.match(found.string, max(place - 1, 0)):
            return found.group()
    shown = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _MARKS[accent])
    return shown if len(shown) == 1 else found.group()
