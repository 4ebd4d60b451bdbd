"""The result of a run, as the engine writes it: the shapes of `stats/results.rs`.

An unknown or missing key is refused, so a result that does not fit is noticed when it is read.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from nic2core.results.percentiles import PERCENTILES


class Plain(BaseModel):
    """Plain data, read once and never changed."""

    model_config = ConfigDict(allow_inf_nan=False, extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _counted_or_measured(cls, value: object) -> object:
        if isinstance(value, int | float) and value < 0:
            raise ValueError("negative, as no run counts or measures")
        return value


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
    queues: list[QueueResults] = []
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


class CaptureFacts(Plain):
    """A capture, as it was understood."""

    packets: int
    """Packets of one round."""
    flows: int
    """Flows that they belong to."""
    bytes: int
    """Bytes of all frames, without FCS."""
    span_ps: int
    """From the first packet to the last, ps."""
    ipv6_packets: int
    """Packets of IPv6: RSS knows their addresses, applications handle them like IPv4."""
    reordered: int = 0
    """Packets that stand in the file behind one of a later time; all are played in the order of
    time.
    """
    vlan_packets: int = 0
    """Packets with VLAN tags, behind which their flow is looked for."""
    largest_gap: CaptureGap | None = None
    """The longest time without a packet; absent of one packet alone."""


class CaptureGap(Plain):
    """A time without a packet in a capture."""

    ps: int
    """How long it is, ps."""
    before_packet: int
    """The packet that ends it, from 1 in the order of time."""


class Packets(Plain):
    """Packets by fate, within the measured time."""

    offered: int
    """Arrived on the wire."""
    dropped_sram: int
    """Dropped because the NIC's input SRAM was full."""
    dropped_no_descriptor: int
    """Dropped because the queue had no posted descriptor."""
    completed: int
    """Requests completed by the cores."""
    completed_before: int
    """Requests completed before measuring began: in the warm-up, and while a peak's probe
    settled."""
    transmitted: int
    """Packets sent by the NIC."""
    in_flight_begin: int
    """Between wire and completion when measuring began and when it ended."""
    in_flight_end: int
    """See `in_flight_begin`."""
    offered_mpps: float
    """Offered rate, million packets a second."""
    completed_mpps: float
    """Completed rate, million packets a second."""
    completed_gbps: float
    """Bytes of completed packets, as received, Gbit/s."""
    offered_gbps: float
    """Bytes of offered packets, as received, Gbit/s."""
    drop_share: float
    """Dropped share of the offered packets, 0 to 1."""
    dropped_bytes_share: float
    """Dropped share of their bytes, 0 to 1: more than that of the packets, if it is the large ones
    that find no room."""
    next_arrival_ns: float | None = None
    """When the next packet comes, after the start of the run, ns; absent if any was offered."""
    link_wait_ns: float | None = None
    """Mean time for which packets wait before the link into the NIC, as it carries one frame after
    the other, ns: their senders', and in no latency; above the link's rate it grows with the run.
    Absent without a link, without traffic with a time law, or if nothing was offered."""


class TransportResults(Plain):
    """Closed-loop senders, within the measured time."""

    goodput_gbps: float
    """Payload that reached its application, each byte once, Gbit/s."""
    sent: int
    """Data packets sent, those sent again included."""
    sent_again: int
    """Data packets sent again."""
    acknowledged: int
    """Acknowledgements that senders received."""
    dropped_switch: int
    """Data packets dropped because the switch's buffer was full."""
    dropped_server: int
    """Data packets dropped by the server's NIC."""
    lost_share: float
    """Share of the data packets sent that switch or server dropped, 0 to 1."""
    marked: int
    """Data packets that the switch marked (ECN)."""
    fast_recoveries: int
    """Data packets found lost because later ones were acknowledged."""
    timeouts: int
    """Timeouts of connections."""
    delivered: int
    """Data packets that reached their application, for the first time."""
    duplicates: int
    """Data packets that had reached it before."""
    reads: int
    """Reads completed."""
    mean_window: float
    """Mean congestion window of the connections over the measured time, packets."""
    fairness: float
    """Jain's index of what the connections delivered: 1 if all the same, one over their number if
    one had all."""
    rtt: Distribution
    """From a packet's sending to its acknowledgement's arrival."""
    fabric_delay: Distribution
    """The part of it outside of the server, as the senders compute it."""
    host_delay: Distribution
    """The part of it in the server: arrival at the NIC to the hand-over of the acknowledgement."""
    read_latency: Distribution
    """From the issue of a read to its last packet."""
    connections: list[ConnectionResults]
    """One for each connection, by queue and then by sender."""


class ConnectionResults(Plain):
    """A connection of closed-loop traffic, within the measured time."""

    queue: int
    """The server's queue, from 0."""
    sender: int
    """The machine that sends, from 0."""
    sent: int
    """Data packets sent, those sent again included."""
    sent_again: int
    """Data packets sent again."""
    timeouts: int
    """Timeouts."""
    delivered: int
    """Data packets that reached their application, for the first time."""
    mean_window: float
    """Mean congestion window, packets."""
    mean_rtt_ns: float | None
    """Mean of the round trips of the acknowledgements that came, ns; absent if none did."""


class Distribution(Plain):
    """Distribution of a latency."""

    count: int
    """Samples."""
    mean_ns: float
    """Mean, ns."""
    percentiles_ns: list[tuple[float, float]]
    """Percentiles, ns: (percent, value), ascending: 50, 90, 99, 99.9, 100."""
    cdf: list[tuple[float, float]]
    """The cumulative distribution, ascending: (ns, share of samples at most that)."""

    @field_validator("percentiles_ns")
    @classmethod
    def _those_reported(cls, value: list[tuple[float, float]]) -> list[tuple[float, float]]:
        if tuple(at for at, _ in value) != PERCENTILES:
            raise ValueError("not those of 50, 90, 99, 99.9 and 100 %")
        return value


class StageLatency(Plain):
    """Latency of one stage of a packet's path."""

    stage: str
    """`nic` (arrival to first DMA), `dma` (to visible completion), `queue` (to the core's taking
    it), `service` (to the end of the request), `transmit` (to the last byte leaving), `total`
    (arrival to the end of the request).
    """
    distribution: Distribution
    """Its distribution."""


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
    nodes: list[NodeTraffic] = []
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


class DmaResults(Plain):
    """The DMA benchmark."""

    transactions: int
    """Transactions that ended: all data read is at the device, or all written in memory."""
    gbps: float
    """Payload, Gbit/s."""
    latency_ns: float | None
    """Mean latency of a read at the device; absent for writes, whose end it does not see."""


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
    memory: list[CauseTraffic] = []
    """Traffic between processor and memory for lines that are the tenant's, by every cause that
    occurred: its application's data, and the rings and buffers of its queues, whoever moved them.
    What of the whole belongs to no tenant is that of page tables and of a DMA benchmark."""
    counters: dict[str, int]
    """The application's own counters, by name."""
    stream_gbytes_per_s_by_core: list[float] | None = None
    """STREAM's bandwidth on each of the tenant's cores, as it counts it: what the loops read and
    write, without the lines that stores read, GB/s (10^9 bytes). Absent for other applications."""


class TimeSeries(Plain):
    """Time series, all of one length."""

    interval_ns: float
    """Spacing, ns."""
    start_ns: float
    """Time of the first sample's begin since the start of the run, ns."""
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
    """One value an interval."""


class Balance(Plain):
    """A balance: what went in equals what came out or is still inside."""

    what: str
    """What is conserved."""
    entered: int
    """Left side."""
    accounted: int
    """Right side."""


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
