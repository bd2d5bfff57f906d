"""Passages with given vectors, the same at every run: clustered unit vectors, Zipfian words.

Clusters of 48 latent dimensions behave like vectors of real texts (recall of graphs, time of
searches); unclustered ones would be a worst case.
"""

import numpy as np
import numpy.typing as npt

WIDTH = 384
SPACE = "bench/clusters@1/384/l2/none"
PASSAGES_PER_DOCUMENT = 10
_CLUSTERS, _LATENT, _WORDS, _VOCABULARY = 1_000, 48, 80, 50_000

Matrix = npt.NDArray[np.float32]

_SYLLABLES = [consonant + vowel for consonant in "bcdfgjlmnprstvz" for vowel in "aeiou"]
_SCATTER = 262_147


def vectors(count: int, *, seed: int = 1) -> Matrix:
    """Returns unit vectors, [count, 384]."""
    shape = np.random.default_rng(0)
    projection = shape.standard_normal((_LATENT, WIDTH)).astype(np.float32)
    centres = shape.standard_normal((_CLUSTERS, _LATENT)).astype(np.float32)
    chance = np.random.default_rng(seed)
    rows = np.empty((count, WIDTH), np.float32)
    for first in range(0, count, 10_000):
        size = min(10_000, count - first)
        own = centres[chance.integers(_CLUSTERS, size=size)]
        latent = own + 0.4 * chance.standard_normal((size, _LATENT))
        block = latent @ projection + 0.1 * chance.standard_normal((size, WIDTH))
        rows[first : first + size] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return rows


def texts(count: int) -> list[str]:
    """Returns one text a passage."""
    chance = np.random.default_rng(2)
    numbers = np.minimum(chance.zipf(1.3, (count, _WORDS)), _VOCABULARY)
    return [" ".join(map(word, row)) for row in numbers.tolist()]


def word(rank: int) -> str:
    """Returns a word of seven letters for each rank under 421,875.

    It is its own stem, so every system counts the same words.
    """
    # The factor has no divisor in common with the number of words, so no two are equal.
    number = rank * _SCATTER % len(_SYLLABLES) ** 3
    rest, first = divmod(number, len(_SYLLABLES))
    third, second = divmod(rest, len(_SYLLABLES))
    return _SYLLABLES[first] + _SYLLABLES[second] + _SYLLABLES[third] + "k"
