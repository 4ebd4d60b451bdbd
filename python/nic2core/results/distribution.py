"""Latencies, as the engine reports them."""

from __future__ import annotations

from pydantic import field_validator

from nic2core._core import UserError
from nic2core.results.plain import Plain

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles that every distribution has."""


class Distribution(Plain):
    """Distribution of a latency."""

    count: int
    """Samples."""
    mean_ns: float
    """Mean, ns."""
    percentiles_ns: list[tuple[float, float]]
    """Percentiles, ns: (percent, value), ascending: 50, 90, 99, 99.9, 100."""
    cdf: list[tuple[float, float]]
    """The cumulative distribution, ascending: (ns, share of samples up to that)."""

    @field_validator("percentiles_ns")
    @classmethod
    def _those_reported(cls, value: list[tuple[float, float]]) -> list[tuple[float, float]]:
        if tuple(at for at, _ in value) != PERCENTILES:
            raise ValueError("not those of 50, 90, 99, 99.9 and 100 %")
        return value

    def percentile(self, percent: float) -> float:
        """The value of one of the reported percentiles, ns."""
        for at, value in self.percentiles_ns:
            if at == percent:
                return value
        known = ", ".join(f"{at:g}" for at in PERCENTILES)
        raise UserError(f"percentile {percent:g} is not measured; allowed: {known}.")


class StageLatency(Plain):
    """Latency of one stage of a packet's path."""

    stage: str
    """`nic` (from arrival until the packet has its receive descriptor), `dma` (until its completion
    is visible), `queue` (until its service begins), `service` (until the end of the request),
    `transmit` (until its last byte leaves), `total` (from arrival until the end of the request).
    """
    distribution: Distribution
    """Its distribution."""
