"""The memory, the caches, and DMA to them."""

from __future__ import annotations

from pydantic import Field

from nic2core.results.distribution import Distribution
from nic2core.results.plain import Plain


class MemoryTraffic(Plain):
    """Traffic between processor and memory."""

    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """Capacity of the channels' data buses, GB/s."""
    causes: list[CauseTraffic]
    """Every cause that occurred."""
    dirty_begin: int | None = None
    """Dirty lines in the caches when the measured time began."""
    dirty_end: int | None = None
    """The same when it ended. Any increase was written to the caches but not yet to memory."""
    nodes: list[NodeTraffic] = Field(default_factory=list)
    """The traffic of each memory node; empty unless something is on the remote node."""
    socket_link: SocketLinkResults | None = None
    """The link between the sockets; absent unless something is on the remote node."""


class NodeTraffic(Plain):
    """Traffic of one node's memory."""

    node: str
    """`local` (that of the cores and the NIC) or `remote`."""
    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """Capacity of the data buses of the node's channels, GB/s."""
    causes: list[CauseTraffic]
    """Every cause that occurred."""


class SocketLinkResults(Plain):
    """What the link between the sockets carried, headers included."""

    to_remote_gbytes_per_s: float
    """Towards the remote node (requests and written lines), GB/s (10^9 bytes)."""
    to_local_gbytes_per_s: float
    """From the remote node (lines read), GB/s."""
    limit_gbytes_per_s: float
    """Capacity of each direction, GB/s."""


class CauseTraffic(Plain):
    """One cause of memory traffic."""

    cause: str
    """`nic-rx-wr`, `nic-tx-rd`, `cpu-rx-rd`, `cpu-other-rd`, `rx-evct`, `tx-evct`, `other-evct`
    (the seven of the Sweeper paper's figure 1c) and, where they occur, `cpu-tx-rd`,
    `nic-descriptor-rd`, `nic-descriptor-wr`, `descriptor-evct`, `mbuf-rd`, `mbuf-evct`,
    `cpu-descriptor-rd`, `prefetch-rd`, `page-clean-wr`, `iommu-walk-rd`, and with a DMA benchmark
    `nic-bench-rd`, `nic-bench-wr`, `bench-evct`.
    """
    in_figure_1c: bool
    """Whether it is one of the seven causes of figure 1c."""
    lines: int
    """Lines moved."""
    per_request: float | None
    """Lines per completed request; absent if none completed."""
    gbytes_per_s: float
    """GB/s (10^9 bytes)."""


class DramResults(Plain):
    """The DRAM channels."""

    read_latency: Distribution
    """From the request's arrival at the controller to its last data beat."""
    unloaded_ns: float | None = None
    """Mean time of reads if none had to wait for another, with the row states as they were, ns;
    absent without reads."""
    row_hits: int
    """Column accesses by row state: hits here, rows opened in a closed bank and conflicts below."""
    row_misses: int
    """See `row_hits`."""
    row_conflicts: int
    """See `row_hits`."""
    bus_busy: list[float]
    """Share of time in which the data bus of each channel carried data, 0 to 1; a remote node's
    channels come last."""


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
    """Writes to the LLC that found the line there, or found by the snoop filter that a core holds
    it. Writes are those of received packets, of completions of sent packets (which take no write
    credits) and of a DMA benchmark. Hits and misses are absent if no write went to the LLC, as with
    `dma`.
    """
    write_moves: int | None = None
    """Hits on lines that only a core's cache held: the line moved to the I/O ways, where, as with
    a miss, it may have evicted another line."""
    write_misses: int | None = None
    """Writes to the LLC that found the line in no cache."""
    write_bypasses: int | None = None
    """Writes that bypassed the LLC: with `dma` all; otherwise those to the remote node and, with
    `ddio-headers`, payload."""
    read_hits: int
    """Reads served by a cache."""
    read_misses: int
    """Reads served by memory."""
    write_credits: int | None = None
    """Credits for lines in flight from the NIC until they are written."""
    write_credits_used: float | None = None
    """Mean number of write credits in use."""
    write_latency_ns: float | None = None
    """Mean time for which a line held its write credit, ns; absent if none was written."""
    link_up_ps: int | None = None
    """Time in which PCIe was busy towards the memory system, ps; absent without PCIe."""
    link_down_ps: int | None = None
    """The same towards the NIC."""


class IommuResults(Plain):
    """The IOMMU."""

    lookups: list[IotlbResults]
    """Lookups by kind of mapping."""
    misses_per_packet: float | None
    """IOTLB misses per received packet; absent if none was completed."""
    write_wait_ns: float | None = None
    """Mean time that a line written by the NIC waits for its translation, including the wait behind
    others, ns; absent if none was written."""
    walks: int
    """Completed page walks."""
    walk_reads: int
    """Page-table entries that the walks read, each from LLC or memory."""
    miss_latency_ns: float | None
    """Mean time from a miss to its translation, including the wait for a walker, ns; absent if no
    walk completed."""
    invalidations: int | None = None
    """Invalidations that cores waited for; absent if nothing is unmapped at run time."""
    invalidation_wait_ns: float | None = None
    """Mean time of an invalidation, including the wait for others, ns."""
    mapping_ps: int | None = None
    """Core time spent mapping and unmapping buffers, without waits for invalidations, core x ps;
    absent if nothing is unmapped at run time."""
    walkers_busy: float
    """Mean number of walks in progress."""


class IotlbResults(Plain):
    """IOTLB lookups for one kind of mapping, one for each page that a transaction touches."""

    mapping: str
    """`payload`, `descriptor`, `completion` or `acknowledgement`."""
    hits: int
    """Lookups that found the translation, or the preceding transaction already waiting for it."""
    misses: int
    """Lookups that needed a walk."""
    misses_per_packet: float | None = None
    """Misses per received packet; absent if none was completed."""


class DmaResults(Plain):
    """The DMA benchmark."""

    transactions: int
    """Completed transactions: all data read is at the device, or all is written to memory."""
    gbps: float
    """Payload, Gbit/s."""
    latency_ns: float | None
    """Mean latency of a read at the device, ns; absent for writes, whose end it does not see."""
