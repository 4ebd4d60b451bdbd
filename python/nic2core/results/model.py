"""The result of a run, as the engine writes it: the shapes of `stats/results/`.

An unknown or missing key is refused, so a result that does not fit is noticed when it is read.
"""

from __future__ import annotations

from pydantic import Field

from nic2core.results.distribution import StageLatency
from nic2core.results.domains import CoreTime, Domain, QueueResults, TenantResults
from nic2core.results.memory import (
    CacheResults,
    DmaResults,
    DramResults,
    IommuResults,
    IoResults,
    MemoryTraffic,
)
from nic2core.results.plain import Plain
from nic2core.results.series import TimeSeries
from nic2core.results.traffic import CaptureFacts, Packets, TransportResults


class Results(Plain):
    """Everything a run measured, over the measured time only."""

    engine_version: str
    """Version of the engine that made it."""
    seed: int
    """Seed of the run."""
    measured_ns: float = Field(gt=0)
    """Simulated time that was measured, after the warm-up."""
    packets: Packets
    """Packets by fate."""
    transport: TransportResults | None = None
    """What closed-loop senders did; absent for other traffic."""
    latency: list[StageLatency]
    """Latency by stage of the path, in path order; the last is the whole."""
    memory: MemoryTraffic
    """Traffic between processor and memory, by cause; the causes add up to all of it."""
    dram: DramResults
    """The DRAM channels."""
    caches: list[CacheResults]
    """Hits and misses by cache and kind of line."""
    io: IoResults | None
    """DMA by the NIC; absent if there was none."""
    iommu: IommuResults | None = None
    """The IOMMU; absent without one."""
    dma: DmaResults | None = None
    """The DMA benchmark; absent without one."""
    amat_ns: float | None
    """Mean time of a core's access to memory (loads and stores, all levels), ns; absent if there
    was none."""
    demand_mpps: float | None = None
    """Rate at which traffic with a time law wants to come, million packets a second; absent for
    other traffic, and when there is none."""
    capture: CaptureFacts | None = None
    """What was understood of the capture that was replayed; absent for other traffic."""
    domains: list[Domain]
    """The domains on the path, in path order."""
    queues: list[QueueResults] = Field(default_factory=list)
    """Each pair of queues, in the order of their cores; none in a run without packets."""
    core_time: CoreTime
    """What the time of the cores that serve packets went into; of all that have a tenant if none
    serves packets."""
    tenants: list[TenantResults]
    """What the applications counted."""
    series: TimeSeries
    """Time series at the sampling interval."""
    conservation: list[Balance]
    """The balances that were checked; a run in which one does not hold is an error."""
    reads_after_sweep: int
    """Reads of data that had been swept: bugs of the application."""
    line_accesses: int
    """Cache-line accesses simulated, all agents: the work of the simulator."""


class Balance(Plain):
    """A balance: what went in equals what came out or is still inside."""

    what: str
    """What is conserved."""
    entered: int
    """Left side."""
    accounted: int
    """Right side."""
