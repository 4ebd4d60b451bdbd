"""The search for the highest rate."""

from __future__ import annotations

from nic2core.results.model import Results
from nic2core.results.plain import Plain


class Peak(Plain):
    """The highest rate that keeps the objective."""

    peak_mpps: float
    """The highest rate at which the objective was seen to hold, completed Mpps."""
    rate_gbps: float | None = None
    """The same as `traffic.rate` takes it, Gbit/s on the wire: of the whole capture on average, of
    bursts while on. Absent where clients draw the sizes of synthetic traffic.
    """
    fails_at_mpps: float | None = None
    """The lowest rate at which it was seen to fail, Mpps; the peak lies between the two. Absent
    where it holds up to the line rate of the network link.
    """
    failed_by: str
    """What failed there: `p99`, `drops` or `rate` (completions fall behind arrivals); `link` where
    nothing does before the network link is full.
    """
    probes: list[Probe]
    """Every rate that was tried, in order."""
    results: Results
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
    """The limit it is held against, ns."""
    drop_share: float
    """Dropped share, 0 to 1."""
    holds: bool
    """Whether the objective held."""
