"""How often the right document comes first, or among the first, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.quality.labelled_set import SEED

_RESAMPLES = 5_000


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def hits_at(
    depth: int, rankings: Sequence[Sequence[str]], relevant: Sequence[frozenset[str]]
) -> NDArray[np.float64]:
    """Returns 1 for each question with a relevant document among its first `depth`, else 0."""
    found = [
        float(not labels.isdisjoint(ranking[:depth]))
        for ranking, labels in zip(rankings, relevant, strict=True)
    ]
    return np.array(found)


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """Returns the mean with its percentile bootstrap interval (Efron, 1979), seeded.

    Of differences between two methods on the same questions, it is the paired bootstrap: an
    interval without 0 is a significant difference.
    """
    rng = np.random.default_rng(SEED)
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(_RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(values.mean()), float(low), float(high))
