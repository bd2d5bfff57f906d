"""How long a text is, in estimated tokens or in words.

Measures never decrease when text is added, and a text is at most as long as its parts together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

Measure = Callable[[str], float]

DEFAULT_TOKENS_PER_CHARACTER = 0.28
"""Of French and English text with the tokenizers of multilingual models, on the safe side."""

_LEAST, _MOST = 0.1, 2.0
# Scripts written without blanks take about one token a character.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"\S+")
# A longer run without a blank is a number, an address or a script without words.
_LONGEST_WORD = 30


def token_measure(tokens_per_character: float = DEFAULT_TOKENS_PER_CHARACTER) -> Measure:
    """Returns the measure of estimated tokens; rates outside 0.1 to 2 are drawn to the nearest."""
    rate = min(max(tokens_per_character, _LEAST), _MOST)

    def tokens(text: str) -> float:
        if text.isascii() or _UNSPACED.search(text) is None:
            return rate * len(text)
        unspaced = sum(1 for _ in _UNSPACED.finditer(text))
        return rate * (len(text) - unspaced) + max(rate, 1.0) * unspaced

    return tokens


def words(text: str) -> float:
    """Counts words; text of unusually long ones counts a word for every 30 characters."""
    return max(sum(1 for _ in _WORD.finditer(text)), len(text) / _LONGEST_WORD)


def whole(length: float) -> int:
    """Rounds a length up."""
    return math.ceil(length - 1e-9)
