"""Percentiles of a latency, as the engine reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core._core import UserError

if TYPE_CHECKING:
    from nic2core.results.model import Distribution

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
"""Those of every distribution."""


def percentile(distribution: Distribution, percent: float) -> float:
    """The value of a percentile that the engine reports, ns."""
    for at, value in distribution.percentiles_ns:
        if at == percent:
            return value
    known = ", ".join(f"{at:g}" for at in PERCENTILES)
    raise UserError(f"percentile {percent:g} is not measured; allowed: {known}.")
