"""A stand-in for a model, for tests and for demonstrations without meaning.

Words, pairs of neighbouring words and the character n-grams of each word are hashed into a vector
with a fixed seed (feature hashing, Weinberger et al. 2009, with the signed variant). Texts that
share words or parts of words come out near each other; what they mean plays no part. The same
text has the same vector on every machine and for both purposes.
"""

import hashlib
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from embedder_svc.embedding import EmbeddingPurpose, Vectors
from embedder_svc.providers.in_process import InProcessProvider
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.spaces import VectorSpace

NAME = "deterministic"
MODEL = "ngram-hash"
DEFAULT_DIMENSION = 64

_REVISION = "1"
_SEED = b"justesse"
_NGRAM_SIZES = (3, 4, 5)
# A word counts as much as this many of its n-grams, a pair of words as much as this many.
_WORD_WEIGHT = 3.0
_PAIR_WEIGHT = 1.0
# Longer words are hashed anew each time, so that the kept ones stay small.
_LONGEST_KEPT_WORD = 40
_LIMITS = ProviderLimits(
    # More words than any accepted text has, so that nothing is ever sliced.
    input_tokens=2**16,
    tokens_per_character=0.17,
    windows_recommended=False,
)


class HashingModel:
    """Feature hashing as a TextModel; its tokens are words between white space."""

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self._space = VectorSpace(NAME, MODEL, _REVISION, dimension, "l2", "none")

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors; another width is another space."""
        return self._space

    @property
    def limits(self) -> ProviderLimits:
        """Takes any text whole."""
        return _LIMITS

    def load(self) -> None:
        """Has nothing to load."""

    def cleaned(self, text: str) -> str:
        """Returns the text without case and accents."""
        decomposed = unicodedata.normalize("NFKD", text.casefold())
        bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
        return bare.strip() or text.strip()

    def token_count(self, text: str, purpose: EmbeddingPurpose) -> int:
        """Counts the words; there is no prefix."""
        return len(text.split())

    def prefix_token_count(self, purpose: EmbeddingPurpose) -> int:
        """Returns 0."""
        return 0

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns one row for each text; never zero for a text with a word in it."""
        rows = np.zeros((len(texts), self._space.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row += self._row(text)
        return rows

    def _row(self, text: str) -> NDArray[np.float64]:
        words = [word.strip(".,;:!?()[]{}\"'«»“”’…") or word for word in text.split()]
        row: NDArray[np.float64] = np.zeros(self._space.dimension)
        for word, count in Counter(words).items():
            hashed = _kept_word_row if len(word) <= _LONGEST_KEPT_WORD else _word_row
            row += (1.0 + math.log(count)) * hashed(word, self._space.dimension)
        for pair in pairwise(words):
            bucket, sign = _hashed(" ".join(pair), self._space.dimension)
            row[bucket] += sign * _PAIR_WEIGHT
        if not row.any():
            # All features have cancelled each other out.
            row[_hashed(text, self._space.dimension)[0]] = 1.0
        return row


def deterministic_provider(dimension: int = DEFAULT_DIMENSION) -> InProcessProvider:
    """Makes the provider with vectors of this width."""
    return InProcessProvider(HashingModel(dimension))


def _word_row(word: str, dimension: int) -> NDArray[np.float64]:
    row: NDArray[np.float64] = np.zeros(dimension)
    bucket, sign = _hashed(word, dimension)
    row[bucket] += sign * _WORD_WEIGHT
    for ngram in _ngrams(f"<{word}>"):
        bucket, sign = _hashed(ngram, dimension)
        row[bucket] += sign
    row.flags.writeable = False
    return row


_kept_word_row = lru_cache(maxsize=16384)(_word_row)


def _ngrams(marked: str) -> Iterator[str]:
    for size in _NGRAM_SIZES:
        yield from (marked[at : at + size] for at in range(len(marked) - size + 1))


def _hashed(feature: str, dimension: int) -> tuple[int, float]:
    digest = hashlib.blake2b(feature.encode(), digest_size=8, key=_SEED).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % dimension, 1.0 if number & 1 else -1.0
