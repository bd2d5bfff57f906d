"""Holds back text of a stream until nothing that follows can change what it means."""

from __future__ import annotations

import re

from gateway.answers.open_markup import OpenMarkup
from text_analysis.sentences import sentence_spans

_MAY_END = re.compile(r"[.!?…。！？\n]")
# Citation marks behind a full stop belong to the sentence before; a link is none.
_MARKS_BEHIND = re.compile(r"(?:[^\S\n]*\[\[?[^\[\]\n]*\]\]?(?!\())+")
_LONG = 2_000
"""Characters; text that is held and longer is looked at less and less often."""


class HeldText:
    """Takes pieces of any length, gives whole sentences with the marks behind them.

    A sentence stays while a bracket, a tag or a link that was opened in its paragraph has no end,
    and until something behind it shows that it is over: a mark may follow. What was given and what
    is held, joined, is what came. However a text is made, the time grows with its length.
    """

    def __init__(self) -> None:
        self._held = ""
        self._markup = OpenMarkup()
        self._may_end = False
        self._looked_at = 0
        self._open_from = 0

    def feed(self, piece: str) -> str:
        """Returns the sentences that are whole by now, with all blanks between them."""
        self._held += piece
        self._markup.feed(piece)
        self._may_end = self._may_end or _MAY_END.search(piece) is not None
        if not (self._may_end and self._is_worth_a_look()):
            return ""
        end = _safe_end(self._held, self._markup)
        if not end:
            self._looked_at, self._open_from = len(self._held), self._markup.open_from
            return ""
        given, self._held = self._held[:end], self._held[end:]
        self._begin_anew()
        return given

    def close(self) -> str:
        """Returns what was held, once no more pieces come."""
        given, self._held = self._held, ""
        return given

    def _is_worth_a_look(self) -> bool:
        if self._markup.open_from == self._open_from < len(self._held):
            return False
        return len(self._held) <= _LONG or len(self._held) > 1.1 * self._looked_at

    def _begin_anew(self) -> None:
        self._markup = OpenMarkup()
        self._markup.feed(self._held)
        self._may_end = _MAY_END.search(self._held) is not None
        self._looked_at = self._open_from = 0


def _safe_end(text: str, markup: OpenMarkup) -> int:
    """Returns how much of the text is whole sentences outside of anything open."""
    spans = sentence_spans(text)
    for (_, end), (following, _) in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True):
        marks = _MARKS_BEHIND.match(text, end)
        if marks is not None:
            end = marks.end()
            following = len(text) - len(text[end:].lstrip())
        if following < len(text) and text[following] != "[" and not markup.is_open_at(end):
            return following
    return 0
