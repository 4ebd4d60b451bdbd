"""Time series."""

from __future__ import annotations

from nic2core.results.plain import Plain


class TimeSeries(Plain):
    """Time series, all of one length."""

    interval_ns: float
    """Sampling interval, ns."""
    start_ns: float
    """Start of the first sampling interval, from the start of the run, ns."""
    columns: list[Series]
    """The columns."""


class Series(Plain):
    """One column of a time series."""

    name: str
    """`offered`, `completed`, `dropped` (Mpps), `nic-sram` (KiB at the sample), `queue` (packets
    waiting), `memory-rd`, `memory-wr` (GB/s), `rx-evct` (GB/s); with closed-loop traffic also
    `goodput` (Gbps), `sent-again` (Mpps), `window` (packets, mean), `fabric-delay`, `host-delay`
    (us, mean) and `switch-queue` (KiB at the sample).
    """
    unit: str
    """Unit of the values."""
    values: list[float]
    """One value per interval."""
