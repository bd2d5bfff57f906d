"""Remembers what surface words become, so that a word seen before costs one look-up."""

import threading
from collections.abc import Callable
from typing import TypeAlias

LONGEST_KNOWN = 64
"""Characters of the longest word worth remembering; longer ones rarely come twice."""

Terms: TypeAlias = tuple[str, ...]


class WordCache(dict[str, Terms]):
    """Maps surface words to their terms and computes those it does not hold.

    Read it as `cache[word]`. Safe to share between threads, and never larger than its limit: when
    full it starts anew, which frequent words recover from at once.
    """

    def __init__(self, terms_of: Callable[[str], Terms], limit: int) -> None:
        """Takes the function that computes terms, and the most words to hold, at least 1."""
        super().__init__()
        self._terms_of = terms_of
        self._limit = limit
        self._storing = threading.Lock()

    def __missing__(self, word: str) -> Terms:
        terms = self._terms_of(word)
        if len(word) <= LONGEST_KNOWN:
            with self._storing:
                if len(self) >= self._limit and word not in self:
                    self.clear()
                self[word] = terms
        return terms
