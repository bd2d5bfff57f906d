"""Exact answers that approximate ones are held against: cosine, BM25, and both fused.

BM25 is that of Lucene and tantivy: k1 = 1.2, b = 0.75, idf = ln(1 + (N - n + 0.5) / (n + 0.5)).
Both keep the length of a text in one byte, which `byte_lengths` does as well.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.peers.peer import CANDIDATES, LIMIT, RANK_CONSTANT
from benchmarks.search_corpus import Question, SearchCorpus

_K1, _B = 1.2, 0.75


class ExactSearch:
    """Looks at every passage."""

    def __init__(self, corpus: SearchCorpus, *, byte_lengths: bool = False) -> None:
        self._vectors = corpus.vectors
        self._count = len(corpus.texts)
        numbers: dict[str, int] = {}
        words = [[numbers.setdefault(w, len(numbers)) for w in t.split()] for t in corpus.texts]
        lengths = np.array([len(row) for row in words], np.int64)
        places = np.repeat(np.arange(self._count), lengths)
        pairs = np.concatenate([np.array(row, np.int64) for row in words]) * self._count + places
        distinct, frequencies = np.unique(pairs, return_counts=True)
        self._passages = distinct % self._count
        self._starts = np.searchsorted(distinct // self._count, np.arange(len(numbers) + 1))
        counted = _in_a_byte(lengths) if byte_lengths else lengths
        norms = _K1 * (1 - _B + _B * counted / lengths.mean())
        self._weights = frequencies * (_K1 + 1) / (frequencies + norms[self._passages])
        self._numbers = numbers

    def dense(self, question: Question, count: int) -> list[int]:
        """Returns the passages of largest cosine, best first."""
        return _best(self._vectors @ question.vector, count)

    def bm25(self, question: Question, count: int) -> list[int]:
        """Returns the passages of largest BM25 score, best first; only those that hold a word."""
        scores = np.zeros(self._count)
        for number in {self._numbers[word] for word in question.words if word in self._numbers}:
            chosen = slice(self._starts[number], self._starts[number + 1])
            found = self._passages[chosen]
            idf = np.log1p((self._count - len(found) + 0.5) / (len(found) + 0.5))
            scores[found] += idf * self._weights[chosen]
        return [id_ for id_ in _best(scores, count) if scores[id_] > 0]

    def hybrid(self, question: Question) -> list[int]:
        """Returns the best passages by reciprocal rank fusion of both lists."""
        scores: dict[int, float] = {}
        for ids in (self.dense(question, CANDIDATES), self.bm25(question, CANDIDATES)):
            for rank, id_ in enumerate(ids, start=1):
                scores[id_] = scores.get(id_, 0.0) + 1 / (RANK_CONSTANT + rank)
        return sorted(scores, key=lambda id_: (-scores[id_], id_))[:LIMIT]


def agreement(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """Returns the mean share of the exact hits that were found."""
    shares = [
        len(set(ids).intersection(right)) / len(right)
        for ids, right in zip(found, exact, strict=True)
        if right
    ]
    return sum(shares) / len(shares)


def _in_a_byte(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rounds down to what a byte can tell: up to 40 exactly, beyond by four significant bits."""
    beyond = np.maximum(lengths - 24, 1)
    unit = 1 << np.maximum(np.floor(np.log2(beyond)).astype(np.int64) - 3, 0)
    return np.where(lengths < 40, lengths, 24 + beyond // unit * unit)


def _best(scores: npt.NDArray[np.floating], count: int) -> list[int]:
    nearest = np.argpartition(-scores, count)[:count]
    ordered = nearest[np.lexsort((nearest, -scores[nearest]))]
    best: list[int] = ordered.tolist()
    return best
