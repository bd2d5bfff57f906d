"""Holds back text of a stream until nothing that follows can change what it means."""

from __future__ import annotations

import re

from text_analysis.sentences import sentence_spans

_MAY_END = re.compile(r"[.!?…。！？\n]")
# Citation marks behind a full stop belong to the sentence before; a link is none.
_MARKS_BEHIND = re.compile(r"(?:[^\S\n]*\[\[?[^\[\]\n]*\]\]?(?!\())+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
# A tag, a comment or a link in angle brackets that has no end yet.
_OPEN_TAG = re.compile(r"<[A-Za-z/!?][^<>]*\Z")
_LINK_TARGET = re.compile(r"\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_OPEN_TARGET = re.compile(r"\]\((?:(?!\n\s*\n).)*\Z", re.DOTALL)


class HeldText:
    """Takes pieces of any length, gives whole sentences with the marks behind them.

    A sentence stays while a bracket, a tag or a link that was opened in its paragraph has no end,
    and until something behind it shows that it is over: a mark may follow. What was given and what
    is held, joined, is what came.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Returns the sentences that are whole by now, with all blanks between them."""
        self._held += piece
        if not _MAY_END.search(self._held):
            return ""
        end = _safe_end(self._held)
        given, self._held = self._held[:end], self._held[end:]
        return given

    def close(self) -> str:
        """Returns what was held, once no more pieces come."""
        given, self._held = self._held, ""
        return given


def _safe_end(text: str) -> int:
    """Returns how much of the text is whole sentences outside of anything open."""
    spans = sentence_spans(text)
    for (_, end), (following, _) in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True):
        marks = _MARKS_BEHIND.match(text, end)
        if marks is not None:
            end = marks.end()
            following = len(text) - len(text[end:].lstrip())
        if following < len(text) and text[following] != "[" and not _is_open(text[:end]):
            return following
    return 0


def _is_open(text: str) -> bool:
    """Whether a bracket, a tag or a link's target has no end in the last paragraph."""
    last = _PARAGRAPH_END.split(text)[-1]
    if _OPEN_TAG.search(last):
        return True
    without_links = _LINK_TARGET.sub("]", last)
    return without_links.count("[") > without_links.count("]") or bool(
        _OPEN_TARGET.search(without_links)
    )
