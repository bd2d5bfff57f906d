"""Finds the sentences of French and English text.

A full stop ends a sentence unless it follows an abbreviation, or a lower-case letter or a digit
comes next. Blank lines and list items end one without any sign.
"""

import re
from collections.abc import Iterator

from text_analysis.abbreviations import is_abbreviation

_CLOSERS = r"""["'”’»)\]]"""
_OPENERS = r"""["'“‘«(\[¿¡*_\s-]"""

_BOUNDARY = re.compile(
    rf"""
      (?<![.!?…])(?P<stop>[.!?…]++)(?:\s?»|{_CLOSERS})*+(?=\s)
    | (?P<wide>[。！？]+[」』”’]*)
    | (?P<blank>\n[^\S\n]*(?=\n))
    | (?P<item>\n(?=[^\S\n]*(?:[-*+•▪‣–—#]+|\d+[.)])\s))
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\s'’\"“«(\[/]+\Z")
_NEXT_VISIBLE = re.compile(rf"(?:{_OPENERS}|[–—])*(\S)")
_LIST_NUMBER = re.compile(r"(?:\A|\n)[^\S\n]*\d+\Z")
_LONGEST_WORD = 40


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans `[start, end)` of the sentences, in order, without blanks around them.

    Spans do not overlap, are never empty, and together hold every non-blank character.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*_ends(text), len(text)):
        sentence = text[start:end]
        stripped = sentence.strip()
        if stripped:
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def sentences(text: str) -> list[str]:
    """Returns the sentences of the text, in order, without blanks around them."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends(text: str) -> Iterator[int]:
    for match in _BOUNDARY.finditer(text):
        if match.lastgroup != "stop" or _ends_sentence(text, match):
            yield match.end()


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    following = _NEXT_VISIBLE.match(text, match.end())
    if following is not None and following.group(1).islower():
        return False
    if match.group("stop") != ".":
        return True
    if following is not None and following.group(1).isdigit():
        return False
    # A window bounds the look back, so that text without blanks stays linear.
    before = text[max(0, match.start() - _LONGEST_WORD) : match.start()]
    if _LIST_NUMBER.search(before):
        return False
    word = _LAST_WORD.search(before)
    return word is None or not is_abbreviation(_without_hyphenated_head(word.group()))


def _without_hyphenated_head(word: str) -> str:
    return word.rpartition("-")[2] or word
