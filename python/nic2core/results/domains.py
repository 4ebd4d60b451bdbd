"""The domains on the path, and what is at its end: queues, cores and tenants."""

from __future__ import annotations

from pydantic import Field

from nic2core.results.memory import CauseTraffic
from nic2core.results.plain import Plain


class Domain(Plain):
    """How one domain of the path was used: its credits, or for a server what it does at a time."""

    domain: str
    """`wire`, `nic-sram`, `descriptors`, `rx-fetches`, `pcie` or `nic-port`, `posted-credits`,
    `read-tags`, `iommu`, `invalidations`, `io-credits`, `read-credits`, `io-ways`, `home-trackers`,
    `read-queue`, `write-queue`, `dram`, `socket-link`, `miss-registers`, `cores`, `tx-descriptors`,
    `tx-fetches`.
    """
    unit: str
    """What one credit is for: `frame`, `B`, `descriptor`, `TLP`, `line`, ..."""
    credits: int = Field(gt=0)
    """Number of credits."""
    busy_ps: int
    """Time integral of the credits in use, credit x ps. (For `io-ways`, whose lines are not tracked
    over time: the lines in use at the end, for all of the measured time.)"""
    uses: int
    """How often a credit was taken."""
    starved_ps: int
    """Time in which something waited for a credit while none was free, ps."""
    holds_writes_ps: int
    """Time integral of the lines of DMA writes that wait in this domain while holding credits,
    line x ps; those that wait for `pcie` have not taken their credits yet, but could."""
    holds_reads_ps: int
    """The same for the lines of DMA reads."""
    holds_cores_ps: int
    """Time integral of the core requests that wait in this domain, request x ps."""


class QueueResults(Plain):
    """The receive and the send queue of one core, whose descriptors other queues cannot use."""

    core: int
    """The core, from 0."""
    offered: int
    """Packets that arrived for this queue, dropped or not."""
    received: int
    """Packets that took a receive descriptor."""
    rx_busy_ps: int
    """Time integral of the receive descriptors that hold a packet or wait until the NIC knows that
    they are posted again, descriptor x ps."""
    rx_waited_ps: int
    """Time that visible packets waited for the core, packet x ps."""
    rx_unfetched_ps: int
    """Time integral of the posted descriptors that the NIC knows of but has not read,
    descriptor x ps."""
    rx_fetches: int
    """Reads of receive descriptors."""
    rx_fetching_ps: int
    """Time that these reads took, ps."""
    sent: int
    """Packets that took a transmit descriptor."""
    tx_busy_ps: int
    """Time integral of the transmit descriptors that the driver has taken and not yet reclaimed,
    descriptor x ps."""
    tx_starved_ps: int
    """Time in which the core left packets waiting for lack of transmit descriptors for what they
    would send, ps."""
    tx_unread_ps: int
    """Time integral of the packets whose transmit doorbell has reached the NIC but whose data the
    NIC has not requested yet, packet x ps."""
    tx_fetches: int
    """Separate reads of transmit descriptors (`nic.tx_descriptor_batch`)."""
    tx_fetching_ps: int
    """Time that these reads took, ps."""
    tx_turn_ps: int
    """Time from the start of each such read until the NIC had requested all the data of its
    packets, ps. Only then does the next read start."""


class CoreTime(Plain):
    """How the cores spent their time."""

    busy_ps: int
    """Time in which they did not wait for the next packet, or did work of their own, core x ps."""
    busiest_ps: int
    """The same for the busiest core, ps: RSS gives queues different shares."""
    dispatch_ps: int
    """Time in which they dispatched instructions, core x ps; for the rest of `busy_ps` they
    stalled."""
    llc_hits: int
    """Requests that the LLC served, second ones for write permission to a line included."""
    llc_misses: int
    """Requests that memory served."""


class TenantResults(Plain):
    """What an application counted."""

    name: str
    """The tenant's name."""
    progress_mps: float
    """Work done per second, in millions: requests for servers, accesses for X-Mem, bytes for
    STREAM. It counts work when a core takes it up, so some of its last burst of packets, 128
    accesses or 64 lines may be unfinished."""
    llc_hits: int
    """LLC hits of its cores' demand accesses. A store that joined the miss of a load asks a second
    time, for write permission, which counts here and not in the hits of the caches."""
    llc_misses: int
    """LLC misses of its cores' demand accesses, including lines still being prefetched from
    memory."""
    amat_ns: float | None = None
    """Mean time of its cores' loads and stores from issue to data, ns; absent without any."""
    memory: list[CauseTraffic] = Field(default_factory=list)
    """Memory traffic for the tenant's own lines, by every cause that occurred: its application's
    data, and the rings and buffers of its queues, whoever moved them. The rest of the total, which
    belongs to no tenant, is for page tables and a DMA benchmark."""
    counters: dict[str, int]
    """The application's own counters, by name."""
    stream_gbytes_per_s_by_core: list[float] | None = None
    """STREAM's bandwidth on each of the tenant's cores, as STREAM counts it: what the loops read
    and write, without the lines read for ownership by stores, GB/s (10^9 bytes). Absent for other
    applications."""
