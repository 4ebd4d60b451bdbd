"""The result of a run, and the search for a peak, as the engine writes them.

Generated from the Rust types in `crates/engine/src/stats/results/` by `python -m tools.codegen`: do
not edit. Unknown and missing keys are refused, so a result that does not fit is noticed when it is
read. A key has a default if the engine leaves it out, or if saved results may lack it.
"""

from typing import Annotated

from pydantic import Field

from nic2core.results.bases import DistributionBase, PeakBase, ResultsBase
from nic2core.results.plain import Plain


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


class Packets(Plain):
    """Packets by outcome, within the measured time."""

    offered: int
    """Arrived on the wire."""
    dropped_sram: int
    """Dropped because the NIC's input SRAM was full."""
    dropped_no_descriptor: int
    """Dropped because the queue had no posted descriptor."""
    completed: int
    """Requests completed by the cores."""
    completed_before: int
    """Requests completed before measuring began: during the warm-up, in the probes of a peak search
    that this one goes on from, and while it settled.
    """
    transmitted: int
    """Packets sent by the NIC."""
    in_flight_begin: int
    """Packets between wire and completion when measuring began."""
    in_flight_end: int
    """The same when measuring ended."""
    unsent_begin: int = 0
    """Packets that wait to be sent when measuring began, in transmit rings or in the software's
    queues (`queues.tx_backlog`): packets that cores have posted or are done with, and that the NIC
    has not sent. 0 in results of older versions.
    """
    unsent_end: int = 0
    """The same when measuring ended."""
    offered_mpps: float
    """Offered rate, million packets per second."""
    completed_mpps: float
    """Completed rate, million packets per second."""
    completed_gbps: float
    """Bytes of completed packets, as received, Gbit/s."""
    offered_gbps: float
    """Bytes of offered packets, as received, Gbit/s."""
    drop_share: float
    """Dropped share of the offered packets, 0 to 1. Of packets that had waited before the measured
    time, more can be dropped in it than are offered: it is then the share of the dropped and
    completed ones.
    """
    dropped_bytes_share: float
    """Dropped share of the offered bytes, likewise: more than that of the packets if it is the
    large packets that find no room.
    """
    next_arrival_ns: float | None = None
    """When the next packet arrives, from the start of the run, ns; absent if any was offered."""
    link_wait_ns: float | None = None
    """Mean time that packets wait for the link into the NIC, which carries one frame at a time, ns.
    They wait at their senders, so no latency includes it; above the link's rate it grows with the
    length of the run. Absent without a link, without traffic whose arrivals follow a time law, or
    if nothing was offered.
    """
    gathering_ns: float | None = None
    """Mean time that the completion of a packet waits for others of its queue to be written with,
    ns; part of the latency's `dma`. Absent if completions are written one at a time
    (`machine.nic.completions_per_write`), and if none began to wait.
    """


class Distribution(DistributionBase):
    """Distribution of a latency."""

    count: int
    """Samples."""
    mean_ns: float
    """Mean, ns."""
    percentiles_ns: list[tuple[float, float]]
    """Percentiles, ns: (percent, value), ascending: 50, 90, 99, 99.9, 100. Each is the upper edge
    of a bucket of the histogram, so up to 0.8 % above a value that occurred.
    """
    cdf: list[tuple[float, float]]
    """The cumulative distribution, ascending: (ns, share of samples up to that, 0 to 1)."""


class SizeResults(Plain):
    """Reads of one size from senders that are like one another, within the measured time."""

    group: int
    """The group of senders: 1 for rivals, 0 for the others."""
    bytes: int
    """Bytes of such a read."""
    alone_ns: float
    """What such a read takes in a network without anything else, and a server that takes no time,
    ns: the request's way, and the frames' on both links. A latency over it is the read's slowdown.
    """
    latency: Distribution
    """From when such a read was wanted until it and all reads before it on its connection were
    complete.
    """


class SendersResults(Plain):
    """Senders that are like one another, where there are rivals, within the measured time."""

    control: str
    """The key of their control in the scenario."""
    first: int
    """The first of them."""
    count: int
    """How many they are."""
    goodput_gbps: float
    """Payload from them that reached its application, each byte counted once, Gbit/s."""
    wanted_gbps: float | None = None
    """Payload of the reads from them that were wanted, Gbit/s; absent without a load."""
    sent: int
    """Data packets sent, including those sent again."""
    sent_again: int
    """Data packets sent again."""
    timeouts: int
    """Retransmission timeouts of their connections."""
    hears_marks: bool
    """Whether their control reacts to marks."""
    mean_window: float
    """Mean congestion window of their connections over the measured time, packets."""
    cut_by_host: float | None = None
    """Packets by which congestion windows were cut in all because of the delay in the server;
    absent if the control does not keep it apart. What a cut takes is what all increases give, over
    time.
    """
    cut_by_path: float = 0.0
    """Packets by which windows were cut because of other acknowledgements: the delay of the path,
    or marks.
    """
    cut_by_losses: float = 0.0
    """Packets by which windows were cut because packets were considered lost."""
    fairness: float | None = None
    """Jain's fairness index over what their connections delivered; absent if that is nothing, and
    with a load.
    """
    read_latency: Distribution
    """From the issue of a read from them until it and all reads before it on its connection are
    complete.
    """
    block_latency: Distribution | None = None
    """From the request for a block that is striped over them until all of it has arrived; absent if
    reads are independent.
    """


class ConnectionResults(Plain):
    """A connection of closed-loop traffic, within the measured time."""

    queue: int
    """The server's queue, from 0."""
    sender: int
    """The sending machine, from 0."""
    sent: int
    """Data packets sent, including those sent again."""
    sent_again: int
    """Data packets sent again."""
    timeouts: int
    """Retransmission timeouts."""
    delivered: int
    """Data packets that reached their application for the first time."""
    mean_window: float
    """Mean congestion window, packets."""
    cut_by_host: float | None = None
    """Packets by which congestion windows were cut in all because of the delay in the server;
    absent if the control does not keep it apart. What a cut takes is what all increases give, over
    time.
    """
    cut_by_path: float = 0.0
    """Packets by which windows were cut because of other acknowledgements: the delay of the path,
    or marks.
    """
    cut_by_losses: float = 0.0
    """Packets by which windows were cut because packets were considered lost."""
    mean_rtt_ns: float | None
    """Mean round trip over the acknowledgements received, ns; absent if none was."""


class TransportResults(Plain):
    """Closed-loop senders, within the measured time."""

    goodput_gbps: float
    """Payload that reached its application, each byte counted once, Gbit/s."""
    wanted_gbps: float | None = None
    """Payload of the reads that were wanted, Gbit/s; absent unless a load is wanted of all senders.
    """
    sent: int
    """Data packets sent, including those sent again."""
    sent_again: int
    """Data packets sent again."""
    acknowledged: int
    """Acknowledgements that the senders received."""
    dropped_switch: int
    """Data packets dropped because the switch's buffer was full."""
    dropped_server: int
    """Data packets dropped by the server's NIC."""
    lost_share: float
    """Share of the data packets sent that the switch or the server dropped, 0 to 1. Of those sent
    before the measured time, more can be dropped in it than are sent: it is then the share of the
    dropped and acknowledged ones.
    """
    marked: int
    """Data packets that the switch marked (ECN)."""
    marked_server: int
    """Data packets marked by the server's NIC but not by the switch."""
    hears_marks: bool | None = None
    """Whether the congestion control reacts to marks; absent from results of older versions."""
    fast_recoveries: int
    """Data packets detected as lost because later ones were acknowledged."""
    timeouts: int
    """Retransmission timeouts of connections."""
    not_lost: int
    """Data packets taken for lost whose acknowledgement arrived before they were sent again."""
    delivered: int
    """Data packets that reached their application for the first time."""
    duplicates: int
    """Data packets that had already reached their application before."""
    reads: int
    """Reads completed."""
    mean_window: float
    """Mean congestion window of the connections over the measured time, packets."""
    cut_by_host: float | None = None
    """Packets by which congestion windows were cut in all because of the delay in the server, where
    the control keeps that apart; absent if none does. What a cut takes is what all increases give,
    over time.
    """
    cut_by_path: float = 0.0
    """Packets by which windows were cut because of other acknowledgements: the delay of the path,
    or marks.
    """
    cut_by_losses: float = 0.0
    """Packets by which windows were cut because packets were considered lost."""
    fairness: float | None = None
    """Jain's index over the packets delivered by each connection: 1 if all are equal, one over
    their number if one has all; absent if nothing was delivered, and with `traffic.load`, where
    each has what is wanted of it.
    """
    rtt: Distribution
    """Round trip: from sending a packet to the arrival of its acknowledgement."""
    fabric_delay: Distribution
    """The part of the round trip outside the server, as the senders compute it."""
    host_delay: Distribution
    """The part of the round trip inside the server: from arrival at the NIC to the hand-over of the
    acknowledgement, or until the packet is processed if no transmit descriptor is free for that.
    """
    read_latency: Distribution
    """From the issue of a read until it and all reads before it are complete."""
    by_size: list[SizeResults] = Field(default_factory=list)
    """The same by size of the read and group of senders; empty if each group has one size and no
    `traffic.load`.
    """
    block_latency: Distribution | None = None
    """From the request for a striped block until all of it has arrived; absent if reads are
    independent, or if there are blocks of rivals and of others (`by_group`).
    """
    by_group: list[SendersResults] = Field(default_factory=list)
    """What rivals got, and before them what the other senders got; empty without rivals."""
    connections: list[ConnectionResults]
    """One entry per connection, by queue and then by sender."""


class StageLatency(Plain):
    """Latency of one stage of a packet's path."""

    stage: str
    """`nic` (from arrival until the packet has its receive descriptor), `dma` (until its completion
    is visible), `queue` (until its service begins), `service` (until the end of the request),
    `transmit` (until its last byte leaves), `total` (from arrival until the end of the request),
    `sent` (from arrival until the last byte of the reply, or of the packet forwarded, leaves).
    """
    distribution: Distribution
    """Its distribution."""


class CauseTraffic(Plain):
    """One cause of memory traffic."""

    cause: str
    """`nic-rx-wr`, `nic-tx-rd`, `cpu-rx-rd`, `cpu-other-rd`, `rx-evct`, `tx-evct`, `other-evct`
    (the seven of the Sweeper paper's figure 1c) and, where they occur, `cpu-tx-rd`,
    `nic-descriptor-rd`, `nic-descriptor-wr`, `descriptor-evct`, `mbuf-rd`, `mbuf-evct`,
    `cpu-descriptor-rd`, `prefetch-rd`, `page-clean-wr`, `iommu-walk-rd`, and with a DMA benchmark
    `nic-bench-rd`, `nic-bench-wr`, `bench-evct`.
    """
    lines: int
    """Lines moved."""
    per_request: float | None
    """Lines per completed request; absent if none completed."""
    gbytes_per_s: float
    """GB/s (10^9 bytes)."""


class NodeTraffic(Plain):
    """Traffic of one node's memory."""

    node: str
    """`local` (that of the cores and the NIC) or `remote`."""
    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """Capacity of the data buses of the node's channels, GB/s."""
    in_domains: bool = False
    """Whether queues and channels among the domains are this node's."""
    read_latency_ns: float | None = None
    """Mean latency of its reads, as `read_latency`, ns; absent without reads."""
    causes: list[CauseTraffic]
    """Every cause that occurred, and those of the Sweeper paper's figure 1c in any case."""


class SocketLinkResults(Plain):
    """What the link between the sockets was given to carry, headers included."""

    to_remote_gbytes_per_s: float
    """Towards the remote node (requests and written lines), GB/s (10^9 bytes)."""
    to_local_gbytes_per_s: float
    """From the remote node (lines read), GB/s."""
    limit_gbytes_per_s: float
    """Capacity of each direction, GB/s."""


class MemoryTraffic(Plain):
    """Traffic between processor and memory."""

    bandwidth_gbytes_per_s: float
    """Reads and writes together, GB/s (10^9 bytes)."""
    bus_limit_gbytes_per_s: float
    """Capacity of the channels' data buses, GB/s."""
    causes: list[CauseTraffic]
    """Every cause that occurred, and those of the Sweeper paper's figure 1c in any case."""
    dirty_begin: int = 0
    """Dirty lines in the caches when the measured time began."""
    dirty_end: int = 0
    """The same when it ended. Any increase was written to the caches but not yet to memory."""
    nodes: list[NodeTraffic] = Field(default_factory=list)
    """The traffic of each memory node; empty unless something is on the remote one."""
    socket_link: SocketLinkResults | None = None
    """The link between the sockets; absent unless something is on the remote node."""


class DramResults(Plain):
    """The DRAM channels."""

    read_latency: Distribution
    """From the request's arrival at the controller to its last data beat."""
    unloaded_ns: float | None = None
    """Mean time of reads if none had to wait for another, with the row states as they were, ns;
    absent without reads.
    """
    row_hits: int
    """Column accesses by state of the row: hits here, rows opened in a closed bank and conflicts
    below.
    """
    row_misses: int
    """See `row_hits`."""
    row_conflicts: int
    """See `row_hits`."""
    bus_busy: list[float]
    """Share of time in which the data bus of each channel carried data, 0 to 1; the channels of a
    remote node come last.
    """


class CacheResults(Plain):
    """Hits and misses of demand accesses at one level, for one kind of line."""

    level: str
    """`l1d`, `l2` or `llc`."""
    kind: str
    """`rx`, `tx`, `descriptor`, `mbuf` or `app`."""
    hits: int
    """Accesses that found the line. Those of `llc` include lines that another core's cache
    supplied.
    """
    misses: int
    """Accesses that did not; in `l1d` and `l2` also stores to a line that is there without the
    right to write it.
    """


class LlcContents(Plain):
    """Lines of one way of the LLC that belong to one tenant and hold the same, when the measured
    time ended.
    """

    way: int
    """The way, from 0. The I/O ways are the first."""
    kind: str
    """`rx` (data of packets that are on their way, or that the application keeps), `rx-consumed`
    (data in receive buffers that hold no packet any more), `tx`, `descriptor`, `mbuf`, `app`, or
    `bench`.
    """
    tenant: str | None = None
    """The tenant; absent if they belong to none, as page tables do."""
    lines: int
    """How many they are."""
    dirty: int
    """How many of them are dirty in the LLC itself; copies in the cores' caches may be newer."""
    share: float
    """What share of the way they are, 0 to 1."""


class IoKindResults(Plain):
    """DMA of one kind of line: what placement does with it, in cache lines."""

    kind: str
    """`rx` for packet data in receive buffers, `tx` for that in transmit buffers, `descriptor` for
    descriptors and completions, `bench` for a DMA benchmark.
    """
    written: int | None = None
    """Lines written, wherever they went; absent in results from before 1 December 2026."""
    write_hits: int
    """Writes that found the line in the LLC or in a core's cache."""
    write_moves: int
    """Of these, those of lines that only a core's cache held."""
    write_misses: int
    """Writes that found it in neither."""
    write_bypasses: int
    """Writes that bypassed the LLC."""
    write_asides: int
    """Writes of what lies outside of the caches, as packets do under `ideal-ddio`."""
    read_hits: int
    """Reads served by a cache, or from outside of the caches."""
    read_misses: int
    """Reads served by memory."""


class IoResults(Plain):
    """DMA by the NIC, in cache lines."""

    written: int | None = None
    """Lines written, wherever they went; absent in results from before 1 December 2026."""
    write_hits: int | None = None
    """Writes to the LLC that found the line there, or found by the snoop filter that a core holds
    it. Writes are those of received packets, of completions of sent packets (which take no write
    credits) and of a DMA benchmark. Hits and misses are absent if no write went to the LLC, as with
    `dma`.
    """
    write_moves: int | None = None
    """Hits on lines that only a core's cache held: the line moved to the I/O ways, where, as with a
    miss, it may have evicted another line.
    """
    write_misses: int | None = None
    """Writes to the LLC that found the line in no cache."""
    write_bypasses: int = 0
    """Writes that bypassed the LLC: with `dma` all; otherwise those to the remote node and, with
    `ddio-headers`, payload.
    """
    rx_footprint_lines: int | None = None
    """Lines of receive buffers that packets have been written to since the run began, each counted
    once: if the I/O ways are to hold all of what is written in turn, they must hold these.
    """
    read_hits: int
    """Reads served by a cache."""
    read_misses: int
    """Reads served by memory."""
    by_kind: list[IoKindResults] = Field(default_factory=list)
    """The same for each kind of line that there was."""
    write_credits: int = 0
    """Credits for lines in flight from the NIC until they are written."""
    write_credits_used: float = 0.0
    """Mean number of write credits in use."""
    write_latency_ns: float | None = None
    """Mean time for which a line held its write credit, ns; absent if none was written."""
    link_up_ps: int | None = None
    """Time in which PCIe was busy towards the memory system, ps; absent without PCIe."""
    link_down_ps: int | None = None
    """The same towards the NIC."""


class IotlbResults(Plain):
    """IOTLB lookups for one kind of mapping, one for each page that a transaction touches."""

    mapping: str
    """`payload`, `descriptor`, `completion` or `acknowledgement`."""
    hits: int
    """Lookups that found the translation, or the preceding transaction already waiting for it."""
    misses: int
    """Lookups that needed a walk."""
    read_hits: int = 0
    """The hits of DMA reads alone."""
    read_misses: int = 0
    """The misses of DMA reads alone."""
    misses_per_packet: float | None = None
    """Misses per received packet; absent if none was completed."""


class IommuResults(Plain):
    """The IOMMU."""

    lookups: list[IotlbResults]
    """Lookups by kind of mapping."""
    misses_per_packet: float | None
    """IOTLB misses per received packet; absent if none was completed."""
    write_wait_ns: float | None = None
    """Mean time that a line written by the NIC waits for its translation, including the wait behind
    others, ns; absent if none was written.
    """
    walks: int
    """Completed page walks."""
    walk_reads: int
    """Page-table entries that the walks read, each from LLC or memory."""
    miss_latency_ns: float | None
    """Mean time from a miss to its translation, including the wait for a walker, ns; absent if no
    walk completed.
    """
    invalidations: int | None = None
    """Invalidations that cores waited for; absent if nothing is unmapped at run time."""
    invalidation_wait_ns: float | None = None
    """Mean time of an invalidation, including the wait for others, ns; absent if there was none."""
    mapping_ps: int | None = None
    """Core time spent mapping and unmapping buffers, without waits for invalidations, core × ps;
    absent if nothing is unmapped at run time.
    """
    walkers_busy: float
    """Mean number of walks in progress."""


class DmaResults(Plain):
    """The DMA benchmark."""

    transactions: int
    """Completed transactions: all data read is at the device, or all data written is in the memory
    system.
    """
    gbps: float
    """Payload, Gbit/s."""
    latency_ns: float | None
    """Mean latency of a read at the device, ns; absent for writes, whose end the device does not
    see.
    """


class CaptureGap(Plain):
    """A time without a packet in a capture."""

    ps: int
    """Its length, ps."""
    before_packet: int
    """The packet that ends it, numbered from 1 in order of time."""


class CaptureFacts(Plain):
    """The contents of a capture, as parsed."""

    packets: int
    """Packets in one round."""
    flows: int
    """Flows that they belong to."""
    bytes: int
    """Bytes of all frames, without FCS."""
    span_ps: int
    """Time from the first packet to the last, ps."""
    ipv6_packets: int
    """IPv6 packets: RSS hashes their addresses; applications handle them like IPv4 packets."""
    reordered: int = 0
    """Packets that follow a later one in the file; all are replayed in order of time."""
    vlan_packets: int = 0
    """Packets with VLAN tags; their flow is taken from the headers after the tags."""
    same_time: int = 0
    """Packets with the time stamp of the one before them."""
    fullest_hundredth: int | None = None
    """Packets in the fullest of a hundred equal parts of that time; absent from results of older
    versions.
    """
    largest_gap: CaptureGap | None = None
    """The longest time without a packet; absent if there is only one packet."""


class Domain(Plain):
    """How the credits of one domain on the path were used; for a server, its credits are what it
    can do at a time. Exact integers; means, latencies and rates are derived from them
    (docs/models/explain.md).
    """

    domain: str
    """`wire`, `nic-sram`, `packet-engine`, `descriptors`, `rx-fetches`, `pcie` or `nic-port`,
    `posted-credits`, `read-tags`, `iommu`, `invalidations`, `io-credits`, `read-credits`,
    `io-ways`, `home-trackers`, `read-queue`, `write-queue`, `dram`, `socket-link`,
    `miss-registers`, `cores`, `tx-descriptors`, `tx-fetches`.
    """
    unit: str
    """What one credit stands for: `frame`, `B`, `descriptor`, `TLP`, `line`, ..."""
    credits: Annotated[int, Field(gt=0)]
    """Number of credits."""
    busy_ps: int
    """Time integral of the credits in use, credit × ps. (For `io-ways`, whose lines are not tracked
    over time: the lines in use at the end, for all of the measured time. A frame on the `wire` and
    a read of `rx-fetches` count whole when they end.)
    """
    uses: int
    """How often a credit was taken."""
    starved_ps: int
    """Time in which something waited for a credit while none was free, ps. (For `posted-credits`
    and `io-credits`: only while the link is free, as what waits for a busy link could not use one.
    For `write-queue`: time in which a write waited; with `machine.dram.admission = "in-order"` the
    full queue may be the read queue.)
    """
    holds_writes_ps: int
    """Time integral of the lines of DMA writes that wait in this domain while holding their
    credits, line × ps. Lines that wait for `pcie` have not taken their credits yet, but could.
    """
    holds_reads_ps: int
    """The same for the lines of DMA reads."""
    holds_cores_ps: int
    """Time integral of the core requests that wait in this domain, request × ps. (For
    `invalidations`, each wait counts whole when it begins.)
    """


class QueueResults(Plain):
    """The receive and the send queue of one core, whose descriptors other queues cannot use."""

    core: int
    """The core, from 0."""
    core_busy_ps: int | None = None
    """Time in which the core did not wait for the next packet, ps; absent in results from before 29
    November 2026.
    """
    offered: int
    """Packets that arrived for this queue, dropped or not."""
    received: int
    """Packets that took a receive descriptor."""
    dropped: int | None = None
    """Packets for this queue that were dropped, in the NIC's SRAM or for lack of a descriptor;
    absent in results from before 1 December 2026.
    """
    rx_busy_ps: int
    """Time integral of the receive descriptors that hold a packet or wait until the NIC knows that
    they are posted again, descriptor × ps.
    """
    rx_waited_ps: int
    """Time integral of the visible packets that the core has not begun, packet × ps."""
    rx_unfetched_ps: int
    """Time integral of the posted receive descriptors that the NIC knows of but has not read,
    descriptor × ps.
    """
    rx_fetches: int
    """Reads of receive descriptors."""
    rx_fetching_ps: int
    """Total time that these reads took, ps."""
    sent: int
    """Packets that took a transmit descriptor."""
    tx_busy_ps: int
    """Time integral of the transmit descriptors that the driver has taken and not yet reclaimed,
    descriptor × ps.
    """
    tx_starved_ps: int
    """Time in which the core took no packet of those that waited, for lack of transmit descriptors
    for what they would send, ps.
    """
    tx_unread_ps: int
    """Time integral of the packets whose transmit doorbell has reached the NIC but whose data the
    NIC has not requested yet, packet × ps.
    """
    tx_fetches: int
    """Separate reads of transmit descriptors (`nic.tx_descriptor_batch`)."""
    tx_fetching_ps: int
    """Total time that these reads took, ps."""
    tx_fetching_link_ps: int = 0
    """The part of it in which they waited for PCIe to carry them, or were carried: none with an
    infinitely wide link, ps. 0 in results of older versions.
    """
    tx_turn_ps: int
    """Time from when the NIC wanted each such read, perhaps before there was a tag for it, until it
    had all the data of its packets, ps. Only then does it want the next.
    """


class CoreTime(Plain):
    """How cores spent their time."""

    busy_ps: int
    """Time in which they did not wait for the next packet, or did work of their own, core × ps."""
    busiest_ps: int
    """The same for the busiest core alone, ps: RSS gives queues different shares."""
    dispatch_ps: int
    """Time in which they dispatched instructions, core × ps; for the rest of `busy_ps` they
    stalled.
    """
    llc_hits: int
    """Requests that the LLC or another core's cache served, second ones for write permission to a
    line included.
    """
    llc_misses: int
    """Requests that memory served."""


class TenantResults(Plain):
    """The results of a tenant."""

    name: str
    """The tenant's name."""
    sends_in_place: bool = False
    """Whether it sends packets from the buffers that they arrived in."""
    progress_mps: float
    """Work done per second, in millions: requests for servers, accesses for X-Mem, bytes for
    STREAM. It counts work that a core has started, so part of its last burst of packets, 128
    accesses or 64 lines may be unfinished.
    """
    llc_hits: int
    """LLC hits of its cores' demand accesses. A store that joined the miss of a load asks a second
    time, for write permission, which counts here and not in the hits of the caches.
    """
    llc_misses: int
    """LLC misses of its cores' demand accesses, including those to lines still being prefetched
    from memory.
    """
    amat_ns: float | None = None
    """Mean time of its cores' loads and stores from issue to data, ns; absent if there were none.
    """
    miss_registers_full: float = 0.0
    """Share of the time in which all miss registers of a core were busy, mean over its cores."""
    memory: list[CauseTraffic] = Field(default_factory=list)
    """Memory traffic for the tenant's own lines, whoever moved them, by every cause that occurred.
    Its lines are its application's data and the rings and buffers of its queues. Only the traffic
    of page tables and of a DMA benchmark belongs to no tenant.
    """
    counters: dict[str, int]
    """The application's own counters, by name."""
    stream_gbytes_per_s_by_core: list[float] | None = None
    """STREAM's bandwidth on each of the tenant's cores, as STREAM counts it: what the loops read
    and write, without the lines that stores read for ownership, GB/s (10^9 bytes). Absent for other
    applications.
    """


class Series(Plain):
    """One column of a time series."""

    name: str
    """`offered`, `completed`, `dropped` (Mpps), `nic-sram` (KiB at the sample), `queue` (packets
    waiting), `memory-rd`, `memory-wr` (GB/s), `rx-evct` (GB/s); with closed-loop traffic also
    `goodput` (Gbps), `sent-again` (Mpps), `window` (packets, mean at the sample), `fabric-delay`,
    `host-delay` (us, mean), `switch-queue` (KiB at the sample), `switch-dropped` and `marked`
    (Mpps); with rivals `rivals-goodput` and `rivals-window`, which are theirs alone; and for each
    connection of `traffic.watched` `window-N` or, of a rival, `rivals-window-N` (packets), N being
    the number of its sender.
    """
    unit: str
    """Unit of the values."""
    values: list[float | None]
    """One value per interval; null where there is none: a mean delay while no acknowledgement came.
    """


class TimeSeries(Plain):
    """Time series, all of one length."""

    interval_ns: float
    """Sampling interval, ns."""
    start_ns: float
    """Start of the first sampling interval, from the start of the run, ns."""
    columns: list[Series]
    """The columns."""


class Balance(Plain):
    """A conservation check: what went in equals what came out plus what is still inside."""

    what: str
    """What is conserved."""
    entered: int
    """Left side."""
    accounted: int
    """Right side."""


class Results(ResultsBase):
    """Everything a run measured, over the measured time only."""

    engine_version: str
    """Version of the engine that produced the results."""
    seed: int
    """Seed of the run."""
    measured_ns: Annotated[float, Field(gt=0)]
    """Simulated time that was measured, after the warm-up, ns."""
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
    llc_contents: list[LlcContents] | None = None
    """What the ways of the LLC held when the measured time ended; absent in results of engines that
    did not tell it.
    """
    io: IoResults | None
    """DMA by the NIC; absent if there was none."""
    iommu: IommuResults | None = None
    """The IOMMU; absent without one."""
    dma: DmaResults | None = None
    """The DMA benchmark; absent without one."""
    amat_ns: float | None
    """Mean time of a core's memory access (loads and stores, all levels), ns; absent if there was
    none.
    """
    demand_mpps: float | None = None
    """Nominal rate of traffic whose arrivals follow a time law, million packets per second; absent
    for other traffic, and without traffic.
    """
    capture: CaptureFacts | None = None
    """What the replayed capture contains, as parsed; absent for other traffic."""
    domains: list[Domain]
    """The domains on the path, in path order."""
    queues: list[QueueResults] = Field(default_factory=list)
    """Each pair of queues, in the order of the tenants and of their cores; empty in a run without
    packets.
    """
    core_time: CoreTime
    """How the cores that serve packets spent their time; if none does, all cores with a tenant."""
    tenants: list[TenantResults]
    """The results of each tenant."""
    series: TimeSeries
    """Time series at the sampling interval."""
    conservation: list[Balance]
    """The balances that were checked; a run in which one does not hold ends in an error."""
    reads_after_sweep: int
    """Reads of data that had been swept: bugs in the application."""
    line_accesses: int
    """Lines touched by a load or store that a core has issued, by the NIC or by a page walk of the
    IOMMU: a measure of the simulator's work. (Prefetches are not counted.)
    """


class Peak(PeakBase):
    """The highest rate that meets the objective."""

    peak_mpps: float
    """The highest rate at which the objective was met, completed Mpps."""
    rate_mpps: float | None = None
    """What was offered there, in the terms of `traffic.rate`, Mpps: for a capture the average over
    all of it, for bursts the rate while on. It exceeds what was completed by what the objective
    lets be dropped. Absent from results of older versions.
    """
    rate_gbps: float | None = None
    """The same in Gbit/s on the wire. Absent if clients draw the sizes of synthetic traffic."""
    fails_at_mpps: float | None = None
    """The lowest rate at which the objective was missed, offered Mpps: the highest that may be
    offered lies between the two. Absent if it is met up to the line rate of the network link.
    """
    failed_by: str
    """What failed there: `p99`, `drops` or `rate` (completions fall behind arrivals); `link` if
    nothing fails before the network link is full.
    """
    probes: list[Probe]
    """Every rate that was tried, in order."""
    results: Results
    """The run at the peak."""
