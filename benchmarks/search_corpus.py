"""Passages and queries of the comparisons with peers, the same at every run.

Vectors are those of `retriever_corpus`. Texts have 40 to 200 words; three fifths of them follow
the law of Zipf and Mandelbrot over 100,000 words, the others repeat words of the same text, as
real texts do. A query holds five words of one passage, none of the 100 most frequent, which real
queries lose as stop words; its vector belongs to a cluster of the passages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from benchmarks.retriever_corpus import Matrix, vectors, word

QUERY_COUNT = 1_000
_VOCABULARY, _FLATTENING = 100_000, 2.7
_SHORTEST, _LONGEST, _FRESH_SHARE = 40, 200, 0.6
_FREQUENT, _QUERY_WORDS = 100, 5


@dataclass(frozen=True, slots=True)
class SearchCorpus:
    """Holds `count` passages; row i of `vectors`, [count, 384], belongs to text i."""

    vectors: Matrix
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Question:
    """Holds the five words and the unit vector, [384], of one query."""

    words: tuple[str, ...]
    vector: npt.NDArray[np.float32]

    @property
    def text(self) -> str:
        """The words as a caller would send them."""
        return " ".join(self.words)


def search_corpus(count: int) -> SearchCorpus:
    """Returns the first `count` passages."""
    return SearchCorpus(vectors(count), [" ".join(map(word, row)) for row in _numbers(count)])


def questions(count: int, size: int = QUERY_COUNT) -> list[Question]:
    """Returns queries for the first `count` passages."""
    chance = np.random.default_rng(5)
    rows = _numbers(count)
    found: list[Question] = []
    for vector in vectors(size, seed=9):
        rare = np.unique([n for n in rows[int(chance.integers(count))] if n >= _FREQUENT])
        chosen = chance.choice(rare, min(_QUERY_WORDS, len(rare)), replace=False)
        found.append(Question(tuple(map(word, chosen.tolist())), vector))
    return found


@cache
def _numbers(count: int) -> list[list[int]]:
    """The words of each text as their ranks by frequency, from 0."""
    chance = np.random.default_rng(2)
    weights = 1 / (np.arange(_VOCABULARY) + 1 + _FLATTENING)
    bounds = np.cumsum(weights / weights.sum())
    rows = []
    for length in chance.integers(_SHORTEST, _LONGEST, size=count, endpoint=True).tolist():
        fresh = int(length * _FRESH_SHARE)
        drawn = np.searchsorted(bounds, chance.random(fresh)).clip(max=_VOCABULARY - 1)
        repeated = drawn[chance.integers(fresh, size=length - fresh)]
        rows.append([*drawn.tolist(), *repeated.tolist()])
    return rows
