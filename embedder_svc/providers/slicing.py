"""Cuts a text that is longer than a model's input into slices that are not."""

import re
from collections.abc import Callable
from dataclasses import dataclass

TokenCount = Callable[[str], int]

_LAST_GAP = re.compile(r"\s+(?=\S*\Z)")


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a text as the model will see it, with its tokens (prefix included)."""

    text: str
    token_count: int


def slices_of(text: str, limit: int, count_tokens: TokenCount) -> list[Slice]:
    """Returns the text in slices of at most `limit` tokens, each as long as that allows.

    Cuts fall between words; a word that is longer than the limit is cut between characters.
    Nothing but the white space at the cuts is lost. A single character that has more tokens than
    the limit is a slice all the same.
    """
    slices: list[Slice] = []
    rest = text.strip()
    guess = limit
    while rest:
        end = _longest_fit(rest, limit, count_tokens, guess)
        if end < len(rest) and not rest[end].isspace():
            end = _word_border(rest, end)
        piece = rest[:end].rstrip()
        slices.append(Slice(piece, count_tokens(piece)))
        rest = rest[end:].lstrip()
        guess = len(piece)
    return slices


def _longest_fit(text: str, limit: int, count_tokens: TokenCount, guess: int) -> int:
    """Returns the length of the longest head of the text that fits; at least 1."""
    fits, end = 1, min(len(text), guess)
    while count_tokens(text[:end]) <= limit:
        if end == len(text):
            return end
        fits, end = end, min(len(text), 2 * end)
    too_long = end
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count_tokens(text[:middle]) <= limit:
            fits = middle
        else:
            too_long = middle
    return fits


def _word_border(text: str, end: int) -> int:
    gap = _LAST_GAP.search(text, 0, end)
    return gap.start() if gap is not None else end
