"""How sure figures and their differences are: seeded bootstrap and paired randomisation."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean of differences on the same questions, its 95 % interval, and its p-value."""

    mean: float
    low: float
    high: float
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether chance alone gives such a difference in fewer than 5 of 100 cases."""
        return self.p_value < 0.05


def estimate(values: Sequence[float]) -> Estimate:
    """Returns the mean with its percentile bootstrap interval (Efron, 1979); values not empty."""
    if not values:
        raise ValueError("there is no value to estimate from")
    chance = random.Random(_SEED)
    means = sorted(
        statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES)
    )
    return Estimate(statistics.fmean(values), *_middle(means))


def difference(values: Sequence[float], baseline: Sequence[float]) -> Difference:
    """Compares two methods on the same questions, in the same order.

    The p-value is that of the paired randomisation test (Smucker, Allan and Carterette, CIKM 2007),
    two-sided, with one added to both counts.
    """
    if len(values) != len(baseline):
        raise ValueError(f"{len(values)} values cannot be paired with {len(baseline)}")
    gaps = [mine - other for mine, other in zip(values, baseline, strict=True)]
    interval = estimate(gaps)
    chance = random.Random(_SEED)
    seen = abs(sum(gaps))
    moved = [gap for gap in gaps if gap]
    extreme = sum(
        abs(sum(gap if chance.random() < 0.5 else -gap for gap in moved)) >= seen - 1e-12
        for _ in range(RESAMPLES)
    )
    p_value = (extreme + 1) / (RESAMPLES + 1)
    return Difference(interval.mean, interval.low, interval.high, p_value)


def _middle(means: Sequence[float]) -> tuple[float, float]:
    cut = round(len(means) * 0.025)
    return means[cut], means[-1 - cut]
