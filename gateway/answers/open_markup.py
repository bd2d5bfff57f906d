"""Where a text that is being written stands inside of a link, an image, a mark or a tag."""

from __future__ import annotations

from bisect import bisect_right

_BEGINS_TAG = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/!?")


class OpenMarkup:
    """Follows a text piece by piece, each character once.

    A bracket, the target behind it, and a tag are open from their beginning to their end, and at a
    blank line at the latest: none goes on behind the end of its paragraph.
    """

    def __init__(self) -> None:
        self._length = 0
        self._began: int | None = None
        self._brackets = 0
        self._parentheses = 0
        self._in_tag = False
        self._blank_line = False
        self._previous = ""
        self._starts: list[int] = []
        self._ends: list[int] = []

    @property
    def open_from(self) -> int:
        """Where what is open now has begun; the length of the text where nothing is."""
        return self._length if self._began is None else self._began

    def feed(self, piece: str) -> None:
        """Follows the text on."""
        for sign in piece:
            self._follow(sign)
            self._previous = sign
            self._length += 1

    def is_open_at(self, place: int) -> bool:
        """Whether a cut before the character at `place` would go through something."""
        if self._began is not None and place > self._began:
            return True
        at = bisect_right(self._starts, place - 1) - 1
        return at >= 0 and place < self._ends[at]

    def _follow(self, sign: str) -> None:
        if sign == "\n" and self._blank_line:
            self._close(self._length)
        self._blank_line = sign == "\n" or (self._blank_line and sign in " \t")
        if self._in_tag:
            if sign == ">":
                self._in_tag = False
                self._close_if_done()
            return
        if self._previous == "<" and sign in _BEGINS_TAG:
            self._begin(self._length - 1)
            self._in_tag = True
        elif self._parentheses:
            self._parentheses += (sign == "(") - (sign == ")")
            self._close_if_done()
        elif sign == "(" and self._previous == "]":
            self._reopen()
            self._parentheses = 1
        elif sign == "[":
            self._begin(self._length)
            self._brackets += 1
        elif sign == "]" and self._brackets:
            self._brackets -= 1
            self._close_if_done()

    def _begin(self, place: int) -> None:
        if self._began is None:
            self._began = place

    def _reopen(self) -> None:
        """Goes on with the brackets that have just ended: a target stands behind them."""
        if self._began is None and self._ends and self._ends[-1] == self._length:
            self._ends.pop()
            self._began = self._starts.pop()
        self._begin(self._length)

    def _close_if_done(self) -> None:
        if not (self._brackets or self._parentheses or self._in_tag):
            self._close(self._length + 1)

    def _close(self, end: int) -> None:
        if self._began is not None:
            self._starts.append(self._began)
            self._ends.append(end)
        self._began = None
        self._brackets = self._parentheses = 0
        self._in_tag = False
