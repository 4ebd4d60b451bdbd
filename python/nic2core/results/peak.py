"""The search for the highest rate that meets the objective."""

from __future__ import annotations

from pydantic import Field

from nic2core.results.model import Results
from nic2core.results.plain import Plain


class Peak(Plain):
    """The highest rate that meets the objective."""

    peak_mpps: float
    """The highest rate at which the objective was met, completed Mpps."""
    rate_gbps: float | None = None
    """The same rate in the terms of `traffic.rate`, Gbit/s on the wire: the average over the whole
    capture, or for bursts the rate while on. Absent if clients draw the sizes of synthetic traffic.
    """
    fails_at_mpps: float | None = None
    """The lowest rate at which the objective was missed, Mpps; the peak lies between the two.
    Absent if it is met up to the line rate of the network link.
    """
    failed_by: str
    """What failed there: `p99`, `drops` or `rate` (completions fall behind arrivals); `link` if
    nothing fails before the network link is full.
    """
    probes: list[Probe] = Field(repr=False)
    """Every rate that was tried, in order."""
    results: Results = Field(repr=False)
    """The run at the peak."""


class Probe(Plain):
    """One rate that a peak search tried."""

    offered_mpps: float
    """Offered, Mpps."""
    completed_mpps: float
    """Completed, Mpps."""
    p99_ns: float
    """99th percentile of the total latency, ns."""
    p99_limit_ns: float
    """The limit for it, ns."""
    drop_share: float
    """Dropped share, 0 to 1."""
    holds: bool
    """Whether the objective was met."""
