"""The memory, the caches, and what reaches them by DMA."""

from __future__ import annotations

from pydantic import Field

from nic2core.results.distribution import Distribution
from nic2core.results.plain import Plain


class MemoryTraffic(Plain):
    """Traffic between processor and memory."""

    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """What the channels' data buses could carry, GB/s."""
    causes: list[CauseTraffic]
    """Every cause that occurred."""
    dirty_begin: int | None = None
    """Lines that the caches held dirty when the measured time began."""
    dirty_end: int | None = None
    """The same when it ended. What they have become more was written to the caches and not yet to
    memory."""
    nodes: list[NodeTraffic] = Field(default_factory=list)
    """The same for each node of memory; empty unless something lies on the remote one."""
    socket_link: SocketLinkResults | None = None
    """The link between the sockets; absent unless something lies on the remote node."""


class NodeTraffic(Plain):
    """Traffic of the memory of one node."""

    node: str
    """`local` (of cores and NIC) or `remote`."""
    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """What the data buses of the node's channels could carry, GB/s."""
    causes: list[CauseTraffic]
    """Every cause that occurred."""


class SocketLinkResults(Plain):
    """What the link between the sockets carried, headers included."""

    to_remote_gbytes_per_s: float
    """Requests and lines written, to the remote node, GB/s (10^9 bytes)."""
    to_local_gbytes_per_s: float
    """Lines read, from there, GB/s."""
    limit_gbytes_per_s: float
    """What each direction could carry, GB/s."""


class CauseTraffic(Plain):
    """One cause of memory traffic."""

    cause: str
    """`nic-rx-wr`, `nic-tx-rd`, `cpu-rx-rd`, `cpu-other-rd`, `rx-evct`, `tx-evct`, `other-evct`
    (the seven of the Sweeper paper's figure 1c) and, where they occur, `cpu-tx-rd`, `nic-
    descriptor-rd`, `nic-descriptor-wr`, `descriptor-evct`, `mbuf-rd`, `mbuf-evct`, `cpu-
    descriptor-rd`, `prefetch-rd`, `page-clean-wr`, `iommu-walk-rd`, and with a DMA benchmark
    `nic-bench-rd`, `nic-bench-wr`, `bench-evct`.
    """
    in_figure_1c: bool
    """Whether it is one of the seven causes of figure 1c."""
    lines: int
    """Lines."""
    per_request: float | None
    """Lines per completed request; absent if none completed."""
    gbytes_per_s: float
    """GB/s (10^9 bytes)."""


class DramResults(Plain):
    """The DRAM channels."""

    read_latency: Distribution
    """From the request's arrival at the controller to its last data beat."""
    unloaded_ns: float | None = None
    """What reads would take on average if none waited for another, with their rows as they were;
    absent if there were none."""
    row_hits: int
    """Column accesses by state of the row: hits, rows opened in a closed bank, conflicts."""
    row_misses: int
    """See `row_hits`."""
    row_conflicts: int
    """See `row_hits`."""
    bus_busy: list[float]
    """Share of time in which the data bus of each channel carried data, 0 to 1."""


class CacheResults(Plain):
    """Hits and misses of demand accesses at one level, for one kind of line."""

    level: str
    """`l1d`, `l2` or `llc`."""
    kind: str
    """`rx`, `tx`, `descriptor`, `mbuf` or `app`."""
    hits: int
    """Accesses that found the line."""
    misses: int
    """Accesses that did not."""


class IoResults(Plain):
    """DMA by the NIC, in cache lines."""

    write_hits: int | None = None
    """Writes to the LLC that found the line there, or its snoop filter that a core holds it. They
    are those of received packets, completions of sent ones (which take no write credits) and a DMA
    benchmark. Absent, as are the misses, if none went to the LLC: with `dma`, for one.
    """
    write_moves: int | None = None
    """Those of the hits that only a core's cache held: the line moved to the I/O ways, from which
    it may have driven another one, as a miss does."""
    write_misses: int | None = None
    """Writes to the LLC that found the line in no cache."""
    write_bypasses: int | None = None
    """Writes that went past the LLC to memory: with `dma` all, otherwise those to the remote node.
    """
    read_hits: int
    """Reads served by a cache."""
    read_misses: int
    """Reads served by memory."""
    write_credits: int | None = None
    """Credits for lines on their way from the NIC until they are written."""
    write_credits_used: float | None = None
    """How many of them were in use, mean."""
    write_latency_ns: float | None = None
    """Mean time for which a line held one; absent if none was written."""
    link_up_ps: int | None = None
    """Time in which PCIe carries something towards the memory system, ps; absent without PCIe."""
    link_down_ps: int | None = None
    """The same towards the NIC."""


class IommuResults(Plain):
    """The IOMMU."""

    lookups: list[IotlbResults]
    """Lookups by kind of mapping."""
    misses_per_packet: float | None
    """IOTLB misses per received packet; absent if none was completed."""
    write_wait_ns: float | None = None
    """Mean time that a line which the NIC writes waits for its translation, behind others included;
    absent if none was written."""
    walks: int
    """Page walks that ended."""
    walk_reads: int
    """Entries of page tables that the walks read, each from LLC or memory."""
    miss_latency_ns: float | None
    """Mean time from a miss to its translation, waiting for a walker included; absent if no walk
    ended."""
    invalidations: int | None = None
    """Invalidations that cores have waited for; absent where nothing is unmapped at run time."""
    invalidation_wait_ns: float | None = None
    """How long each of them took, mean, waiting for others included."""
    mapping_ps: int | None = None
    """Time of cores to map and unmap buffers, without waits for invalidations, core x ps; absent
    where nothing is unmapped at run time."""
    walkers_busy: float
    """Mean number of walks under way."""


class IotlbResults(Plain):
    """Lookups in the IOTLB for one kind of mapping, one for each page that a DMA touches."""

    mapping: str
    """`payload`, `descriptor`, `completion` or `acknowledgement`."""
    hits: int
    """Lookups that found the translation, or that the transaction before was waiting for it."""
    misses: int
    """Lookups that took a walk."""
    misses_per_packet: float | None = None
    """Those per received packet; absent if none was completed."""


class DmaResults(Plain):
    """The DMA benchmark."""

    transactions: int
    """Transactions that ended: all data read is at the device, or all written in memory."""
    gbps: float
    """Payload, Gbit/s."""
    latency_ns: float | None
    """Mean latency of a read at the device; absent for writes, whose end it does not see."""
