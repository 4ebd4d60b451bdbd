"""The domains on the path, and what works at its ends: queues, cores and tenants."""

from __future__ import annotations

from pydantic import Field

from nic2core.results.memory import CauseTraffic
from nic2core.results.plain import Plain


class Domain(Plain):
    """How one domain of the path was used: credits, or for a server what it does at a time."""

    domain: str
    """`wire`, `nic-sram`, `descriptors`, `rx-fetches`, `pcie` or `nic-port`, `posted-credits`,
    `read-tags`, `iommu`, `invalidations`, `io-credits`, `read-credits`, `io-ways`, `home-trackers`,
    `read-queue`, `write-queue`, `dram`, `socket-link`, `miss-registers`, `cores`, `tx-descriptors`,
    `tx-fetches`.
    """
    unit: str
    """What one credit is for: `frame`, `B`, `descriptor`, `TLP`, `line`, ..."""
    credits: int = Field(gt=0)
    """Credits that there are."""
    busy_ps: int
    """Time integral of those in use, credit x ps."""
    uses: int
    """Credits taken."""
    starved_ps: int
    """Time in which something waited for a credit while none was free, ps."""
    holds_writes_ps: int
    """Time integral of the lines of DMA writes that wait in this domain and hold their credits,
    line x ps."""
    holds_reads_ps: int
    """The same of the lines of DMA reads."""
    holds_cores_ps: int
    """Time integral of the requests of cores that wait in this domain, request x ps."""


class QueueResults(Plain):
    """A receive queue and the send queue of the same core: what one has, others cannot use."""

    core: int
    """The core, from 0."""
    offered: int
    """Packets that came for it, dropped or not."""
    received: int
    """Packets that took a receive descriptor."""
    rx_busy_ps: int
    """Time integral of the receive descriptors that hold a packet or wait until the NIC knows that
    they are posted again, descriptor x ps."""
    rx_waited_ps: int
    """Time that visible packets waited for the core, packet x ps."""
    rx_unfetched_ps: int
    """Time integral of those that it knows of and has not read, descriptor x ps."""
    rx_fetches: int
    """Reads of receive descriptors."""
    rx_fetching_ps: int
    """Time that these took, ps."""
    sent: int
    """Packets that took a transmit descriptor."""
    tx_busy_ps: int
    """Time integral of the transmit descriptors that the driver has taken and not taken back,
    descriptor x ps."""
    tx_starved_ps: int
    """Time in which the core left packets waiting because there was no transmit descriptor for
    what they would send, ps."""
    tx_unread_ps: int
    """Time integral of the packets whose transmit doorbell is at the NIC and whose data it has not
    asked for, packet x ps."""
    tx_fetches: int
    """Reads of transmit descriptors by themselves (`nic.tx_descriptor_batch`)."""
    tx_fetching_ps: int
    """Time that these took, ps."""
    tx_turn_ps: int
    """Time from the begin of each until the NIC had asked for all the data of its packets, ps. The
    next begins when it has."""


class CoreTime(Plain):
    """What the time of cores went into."""

    busy_ps: int
    """Time in which they did not wait for the next packet, or with work of their own, core x ps."""
    busiest_ps: int
    """That of the busiest core, ps: queues differ in what RSS gives them."""
    dispatch_ps: int
    """Time in which they dispatched instructions, core x ps; the rest of `busy_ps` they waited."""
    llc_hits: int
    """Requests that the LLC served."""
    llc_misses: int
    """Requests that memory served."""


class TenantResults(Plain):
    """What an application counted."""

    name: str
    """The tenant's name."""
    progress_mps: float
    """Work done per second: requests for servers, accesses for X-Mem, bytes for STREAM, in
    millions."""
    llc_hits: int
    """LLC hits of its cores' demand accesses."""
    llc_misses: int
    """LLC misses of its cores' demand accesses."""
    amat_ns: float | None = None
    """Mean time of its cores' loads and stores from issue to data, ns; absent without any."""
    memory: list[CauseTraffic] = Field(default_factory=list)
    """Traffic between processor and memory for lines that are the tenant's, by every cause that
    occurred: its application's data, and the rings and buffers of its queues, whoever moved them.
    What of the whole belongs to no tenant is that of page tables and of a DMA benchmark."""
    counters: dict[str, int]
    """The application's own counters, by name."""
    stream_gbytes_per_s_by_core: list[float] | None = None
    """STREAM's bandwidth on each of the tenant's cores, as it counts it: what the loops read and
    write, without the lines that stores read, GB/s (10^9 bytes). Absent for other applications."""
