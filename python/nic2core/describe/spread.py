"""A number over several seeds: its mean, how well it is known, and whether two means differ."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev, variance
from typing import TYPE_CHECKING

from nic2core.words import three

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIDENCE = 0.95
"""How often an interval contains the mean over all seeds, if values are distributed normally."""


@dataclass(frozen=True)
class Spread:
    """A number of runs that differ in their seed."""

    by_seed: Mapping[int, float]

    @property
    def values(self) -> list[float]:
        """The values, in the order of the runs."""
        return [*self.by_seed.values()]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return fmean(self.values)

    @property
    def low(self) -> float:
        """The least value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The greatest value."""
        return max(self.values)

    @property
    def half(self) -> float | None:
        """Half the 95 % confidence interval of the mean; `None` for a single seed."""
        return _half(self.values)

    def apart_from(self, other: Spread) -> bool | None:
        """Whether the means differ by more than chance: zero is not in their difference's interval.

        By seed where both have the same seeds, which draw the same traffic (paired t); otherwise
        by Welch's t. `None` if one has a single seed, which tells nothing about chance.
        """
        if min(len(self.by_seed), len(other.by_seed)) < 2:
            return None
        if self.by_seed.keys() == other.by_seed.keys():
            steps = [other.by_seed[seed] - value for seed, value in self.by_seed.items()]
            return abs(fmean(steps)) > (_half(steps) or 0.0)
        errors = [variance(of.values) / len(of.values) for of in (self, other)]
        if sum(errors) == 0:
            return self.mean != other.mean
        each = zip(errors, (self, other), strict=True)
        freedom = sum(errors) ** 2 / sum(e**2 / (len(of.values) - 1) for e, of in each)
        return abs(self.mean - other.mean) > _quantile(freedom) * sqrt(sum(errors))

    def __str__(self) -> str:
        """The mean and half its interval, to the decimals of the mean."""
        mean = three(self.mean)
        half = f"{self.half or 0.0:,.{len(mean.partition('.')[2])}f}"
        return f"{mean} ± {half}" if half.strip("0.") else mean


def _half(values: Sequence[float]) -> float | None:
    """Half the confidence interval of a mean, by Student's t."""
    n = len(values)
    return None if n < 2 else _quantile(n - 1) * stdev(values) / sqrt(n)


def of_two_runs(values: Sequence[float]) -> float:
    """How far two runs can be apart that vary as these two or more do.

    Half the confidence interval of their difference.
    """
    return _quantile(len(values) - 1) * stdev(values) * sqrt(2)


def _quantile(freedom: float) -> float:
    """The two-sided quantile of Student's t."""
    # Imported here, because it takes half a second and most commands need none.
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, freedom))
