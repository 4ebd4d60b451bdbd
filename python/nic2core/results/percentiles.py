"""Percentiles of a latency, as the engine reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.results.model import Distribution


def percentile(distribution: Distribution, percent: float) -> float:
    """The value of a percentile that the engine reports, ns."""
    for at, value in distribution.percentiles_ns:
        if at == percent:
            return value
    known = ", ".join(f"{at:g}" for at, _ in distribution.percentiles_ns)
    raise ValueError(f"percentile {percent:g} is not reported; reported are {known}")
