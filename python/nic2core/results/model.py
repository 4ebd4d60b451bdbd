"""The result of a run, as the engine writes it: mirrors the types of `stats/results/`.

Unknown and missing keys are refused, so a result that does not fit is noticed when it is read.
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
    """Version of the engine that produced it."""
    seed: int
    """Seed of the run."""
    measured_ns: float = Field(gt=0)
    """Simulated time that was measured, after the warm-up."""
    packets: Packets
    """Packets by outcome."""
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
    """Mean time of a core's memory access (loads and stores, all levels), ns; absent if none."""
    demand_mpps: float | None = None
    """Nominal rate of traffic whose arrivals follow a time law, million packets per second; absent
    for other traffic, and without traffic."""
    capture: CaptureFacts | None = None
    """What the replayed capture contains, as parsed; absent for other traffic."""
    domains: list[Domain]
    """The domains on the path, in path order."""
    queues: list[QueueResults] = Field(default_factory=list)
    """Each pair of queues, in the order of their cores; empty in a run without packets."""
    core_time: CoreTime
    """How the cores that serve packets spent their time; if none does, all cores with a tenant."""
    tenants: list[TenantResults]
    """What the applications counted."""
    series: TimeSeries
    """Time series at the sampling interval."""
    conservation: list[Balance]
    """The balances that were checked; a run in which one does not hold ends in an error."""
    reads_after_sweep: int
    """Reads of data that had been swept: bugs in the application."""
    line_accesses: int
    """Cache-line accesses simulated, by all agents: the work of the simulator."""


class Balance(Plain):
    """A conservation check: what went in equals what came out plus what is still inside."""

    what: str
    """What is conserved."""
    entered: int
    """Left side."""
    accounted: int
    """Right side."""
