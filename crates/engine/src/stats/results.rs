//! The result of a run: plain data, the same for Rust, Python and files.
//!
//! Times are in nanoseconds and rates in the unit their name ends with; they are derived from
//! integer counters when the run ends and never flow back into the model. What means nothing in a
//! configuration is absent, not zero.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything a run measured, over the measured time only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Version of the engine that made it.
    pub engine_version: String,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time that was measured, after the warm-up.
    pub measured_ns: f64,
    /// Packets by fate.
    pub packets: Packets,
    /// What closed-loop senders did; absent for other traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportResults>,
    /// Latency by stage of the path, in path order; the last is the whole.
    pub latency: Vec<StageLatency>,
    /// Traffic between processor and memory, by cause; the causes add up to all of it.
    pub memory: MemoryTraffic,
    /// The DRAM channels.
    pub dram: DramResults,
    /// Hits and misses by cache and kind of line.
    pub caches: Vec<CacheResults>,
    /// DMA by the NIC; absent if there was none.
    pub io: Option<IoResults>,
    /// The IOMMU; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuResults>,
    /// The DMA benchmark; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<DmaResults>,
    /// Mean time of a core's access to memory (loads and stores, all levels), ns; absent if there
    /// was none.
    pub amat_ns: Option<f64>,
    /// Rate at which traffic with a time law wants to come, million packets a second; absent for
    /// other traffic, and when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_mpps: Option<f64>,
    /// What was understood of the capture that was replayed; absent for other traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureFacts>,
    /// The domains on the path, in path order.
    pub domains: Vec<Domain>,
    /// Each pair of queues, in the order of their cores; none in a run without packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueResults>,
    /// What the time of the cores that serve packets went into; of all that have a tenant if none
    /// serves packets.
    pub core_time: CoreTime,
    /// What the applications counted.
    pub tenants: Vec<TenantResults>,
    /// Time series at the sampling interval.
    pub series: TimeSeries,
    /// The balances that were checked; a run in which one does not hold is an error.
    pub conservation: Vec<Balance>,
    /// Reads of data that had been swept: bugs of the application.
    pub reads_after_sweep: u64,
    /// Cache-line accesses simulated, all agents: the work of the simulator.
    pub line_accesses: u64,
}

/// Packets by fate, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// Arrived on the wire.
    pub offered: u64,
    /// Dropped because the NIC's input SRAM was full.
    pub dropped_sram: u64,
    /// Dropped because the queue had no posted descriptor.
    pub dropped_no_descriptor: u64,
    /// Requests completed by the cores.
    pub completed: u64,
    /// Requests completed before measuring began: in the warm-up, and while a peak's probe settled.
    pub completed_before: u64,
    /// Packets sent by the NIC.
    pub transmitted: u64,
    /// Between wire and completion when measuring began and when it ended.
    pub in_flight_begin: u64,
    /// See `in_flight_begin`.
    pub in_flight_end: u64,
    /// Offered rate, million packets a second.
    pub offered_mpps: f64,
    /// Completed rate, million packets a second.
    pub completed_mpps: f64,
    /// Bytes of completed packets, as received, Gbit/s.
    pub completed_gbps: f64,
    /// Bytes of offered packets, as received, Gbit/s.
    pub offered_gbps: f64,
    /// Dropped share of the offered packets, 0 to 1.
    pub drop_share: f64,
    /// Dropped share of their bytes, 0 to 1: more than that of the packets, if it is the large ones that find no room.
    pub dropped_bytes_share: f64,
    /// When the next packet comes, after the start of the run, ns; absent if any was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_arrival_ns: Option<f64>,
    /// Mean time for which packets wait before the link into the NIC, as it carries one frame after the other, ns: their
    /// senders', and in no latency; above the link's rate it grows with the run. Absent without a link, without
    /// traffic with a time law, or if nothing was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_wait_ns: Option<f64>,
}

/// A capture, as it was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureFacts {
    /// Packets of one round.
    pub packets: u64,
    /// Flows that they belong to.
    pub flows: u64,
    /// Bytes of all frames, without FCS.
    pub bytes: u64,
    /// From the first packet to the last, ps.
    pub span_ps: u64,
    /// Packets of IPv6: RSS knows their addresses, applications handle them like IPv4.
    pub ipv6_packets: u64,
    /// Packets that stand in the file behind one of a later time; all are played in the order of time.
    #[serde(default)]
    pub reordered: u64,
    /// Packets with VLAN tags, behind which their flow is looked for.
    #[serde(default)]
    pub vlan_packets: u64,
    /// The longest time without a packet; absent of one packet alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_gap: Option<CaptureGap>,
}

/// A time without a packet in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureGap {
    /// How long it is, ps.
    pub ps: u64,
    /// The packet that ends it, from 1 in the order of time.
    pub before_packet: u64,
}

/// Closed-loop senders, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportResults {
    /// Payload that reached its application, each byte once, Gbit/s.
    pub goodput_gbps: f64,
    /// Data packets sent, those sent again included.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// Acknowledgements that senders received.
    pub acknowledged: u64,
    /// Data packets dropped because the switch's buffer was full.
    pub dropped_switch: u64,
    /// Data packets dropped by the server's NIC.
    pub dropped_server: u64,
    /// Share of the data packets sent that switch or server dropped, 0 to 1.
    pub lost_share: f64,
    /// Data packets that the switch marked (ECN).
    pub marked: u64,
    /// Data packets found lost because later ones were acknowledged.
    pub fast_recoveries: u64,
    /// Timeouts of connections.
    pub timeouts: u64,
    /// Data packets that reached their application, for the first time.
    pub delivered: u64,
    /// Data packets that had reached it before.
    pub duplicates: u64,
    /// Reads completed.
    pub reads: u64,
    /// Mean congestion window of the connections over the measured time, packets.
    pub mean_window: f64,
    /// Jain's index of what the connections delivered: 1 if all the same, one over their number if one
    /// had all.
    pub fairness: f64,
    /// From a packet's sending to its acknowledgement's arrival.
    pub rtt: Distribution,
    /// The part of it outside of the server, as the senders compute it.
    pub fabric_delay: Distribution,
    /// The part of it in the server: arrival at the NIC to the hand-over of the acknowledgement.
    pub host_delay: Distribution,
    /// From the issue of a read until it and all reads before it are complete.
    pub read_latency: Distribution,
    /// One for each connection, by queue and then by sender.
    pub connections: Vec<ConnectionResults>,
}

/// A connection of closed-loop traffic, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionResults {
    /// The server's queue, from 0.
    pub queue: u32,
    /// The machine that sends, from 0.
    pub sender: u32,
    /// Data packets sent, those sent again included.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Data packets that reached their application, for the first time.
    pub delivered: u64,
    /// Mean congestion window, packets.
    pub mean_window: f64,
    /// Mean of the round trips of the acknowledgements that came, ns; absent if none did.
    pub mean_rtt_ns: Option<f64>,
}

/// Distribution of a latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Percentiles, ns: (percent, value), ascending: 50, 90, 99, 99.9, 100.
    pub percentiles_ns: Vec<(f64, f64)>,
    /// The cumulative distribution, ascending: (ns, share of samples at most that).
    pub cdf: Vec<(f64, f64)>,
}

/// Latency of one stage of a packet's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageLatency {
    /// `nic` (arrival to first DMA), `dma` (to visible completion), `queue` (to the core's taking
    /// it), `service` (to the end of the request), `transmit` (to the last byte leaving), `total`
    /// (arrival to the end of the request).
    pub stage: String,
    /// Its distribution.
    pub distribution: Distribution,
}

/// Traffic between processor and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTraffic {
    /// Reads and writes together, GB/s (10^9 bytes).
    pub bandwidth_gbytes_per_s: f64,
    /// What the channels' data buses could carry, GB/s.
    pub bus_limit_gbytes_per_s: f64,
    /// Every cause that occurred.
    pub causes: Vec<CauseTraffic>,
    /// Lines that the caches held dirty when the measured time began.
    #[serde(default)]
    pub dirty_begin: u64,
    /// The same when it ended. What they have become more was written to the caches and not yet to memory.
    #[serde(default)]
    pub dirty_end: u64,
    /// The same for each node of memory; empty unless something lies on the remote one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeTraffic>,
    /// The link between the sockets; absent unless something lies on the remote node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_link: Option<SocketLinkResults>,
}

/// Traffic of the memory of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeTraffic {
    /// `local` (of cores and NIC) or `remote`.
    pub node: String,
    /// Reads and writes together, GB/s (10^9 bytes).
    pub bandwidth_gbytes_per_s: f64,
    /// What the data buses of the node's channels could carry, GB/s.
    pub bus_limit_gbytes_per_s: f64,
    /// Every cause that occurred.
    pub causes: Vec<CauseTraffic>,
}

/// What the link between the sockets carried, headers included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SocketLinkResults {
    /// Requests and lines written, to the remote node, GB/s (10^9 bytes).
    pub to_remote_gbytes_per_s: f64,
    /// Lines read, from there, GB/s.
    pub to_local_gbytes_per_s: f64,
    /// What each direction could carry, GB/s.
    pub limit_gbytes_per_s: f64,
}

/// One cause of memory traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseTraffic {
    /// `nic-rx-wr`, `nic-tx-rd`, `cpu-rx-rd`, `cpu-other-rd`, `rx-evct`, `tx-evct`, `other-evct`
    /// (the seven of the Sweeper paper's figure 1c) and, where they occur, `cpu-tx-rd`,
    /// `nic-descriptor-rd`, `nic-descriptor-wr`, `descriptor-evct`, `mbuf-rd`, `mbuf-evct`,
    /// `cpu-descriptor-rd`, `prefetch-rd`, `page-clean-wr`, `iommu-walk-rd`, and with a DMA
    /// benchmark `nic-bench-rd`, `nic-bench-wr`, `bench-evct`.
    pub cause: String,
    /// Whether it is one of the seven causes of figure 1c.
    pub in_figure_1c: bool,
    /// Lines.
    pub lines: u64,
    /// Lines per completed request; absent if none completed.
    pub per_request: Option<f64>,
    /// GB/s (10^9 bytes).
    pub gbytes_per_s: f64,
}

/// The DRAM channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DramResults {
    /// From the request's arrival at the controller to its last data beat.
    pub read_latency: Distribution,
    /// What reads would take on average if none waited for another, with their rows as they were, ns;
    /// absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unloaded_ns: Option<f64>,
    /// Column accesses by state of the row: hits, rows opened in a closed bank, conflicts.
    pub row_hits: u64,
    /// See `row_hits`.
    pub row_misses: u64,
    /// See `row_hits`.
    pub row_conflicts: u64,
    /// Share of time in which the data bus of each channel carried data, 0 to 1; the channels of a
    /// remote node come last.
    pub bus_busy: Vec<f64>,
}

/// Hits and misses of demand accesses at one level, for one kind of line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheResults {
    /// `l1d`, `l2` or `llc`.
    pub level: String,
    /// `rx`, `tx`, `descriptor`, `mbuf` or `app`.
    pub kind: String,
    /// Accesses that found the line.
    pub hits: u64,
    /// Accesses that did not.
    pub misses: u64,
}

/// DMA by the NIC, in cache lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoResults {
    /// Writes to the LLC that found the line there, or its snoop filter that a core holds it. They are
    /// those of received packets, completions of sent ones (which take no write credits) and a DMA
    /// benchmark. Absent, as are the misses, if none went to the LLC: with `dma`, for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hits: Option<u64>,
    /// Those of the hits that only a core's cache held: the line moved to the I/O ways, from which it may
    /// have driven another one, as a miss does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_moves: Option<u64>,
    /// Writes to the LLC that found the line in no cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_misses: Option<u64>,
    /// Writes that went past the LLC to memory: with `dma` all, otherwise those to the remote node.
    #[serde(default)]
    pub write_bypasses: u64,
    /// Reads served by a cache.
    pub read_hits: u64,
    /// Reads served by memory.
    pub read_misses: u64,
    /// Credits for lines on their way from the NIC until they are written.
    pub write_credits: u32,
    /// How many of them were in use, mean.
    pub write_credits_used: f64,
    /// Mean time for which a line that takes one held it, ns; absent if none was written.
    pub write_latency_ns: Option<f64>,
    /// Time in which PCIe carries something towards the memory system, ps; absent without PCIe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_up_ps: Option<u64>,
    /// The same towards the NIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_down_ps: Option<u64>,
}

/// The IOMMU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IommuResults {
    /// Lookups by kind of mapping.
    pub lookups: Vec<IotlbResults>,
    /// IOTLB misses per received packet; absent if none was completed.
    pub misses_per_packet: Option<f64>,
    /// Mean time that a line which the NIC writes waits for its translation, behind others included,
    /// ns; absent if none was written.
    pub write_wait_ns: Option<f64>,
    /// Page walks that ended.
    pub walks: u64,
    /// Entries of page tables that the walks read, each from LLC or memory.
    pub walk_reads: u64,
    /// Mean time from a miss to its translation, waiting for a walker included, ns; absent if no
    /// walk ended.
    pub miss_latency_ns: Option<f64>,
    /// Invalidations that cores have waited for; absent where nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidations: Option<u64>,
    /// How long each of them took, mean, waiting for others included, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidation_wait_ns: Option<f64>,
    /// Time of cores to map and unmap buffers, without waits for invalidations, core × ps; absent where
    /// nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_ps: Option<u64>,
    /// Mean number of walks under way.
    pub walkers_busy: f64,
}

/// Lookups in the IOTLB for one kind of mapping, one for each page that a transaction touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IotlbResults {
    /// `payload`, `descriptor`, `completion` or `acknowledgement`.
    pub mapping: String,
    /// Lookups that found the translation, or that the transaction before was waiting for it.
    pub hits: u64,
    /// Lookups that took a walk.
    pub misses: u64,
    /// Those per received packet; absent if none was completed.
    pub misses_per_packet: Option<f64>,
}

/// The DMA benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DmaResults {
    /// Transactions that ended: all data read is at the device, or all written is in memory system.
    pub transactions: u64,
    /// Payload, Gbit/s.
    pub gbps: f64,
    /// Mean latency of a read at the device, ns; absent for writes, whose end it does not see.
    pub latency_ns: Option<f64>,
}

/// How one domain of the path was used: credits, or for a server what it does at a time. Exact
/// integers; means, latencies and rates are derived from them (docs/models/explain.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Domain {
    /// `wire`, `nic-sram`, `descriptors`, `rx-fetches`, `pcie` or `nic-port`, `posted-credits`, `read-tags`, `iommu`,
    /// `invalidations`, `io-credits`, `read-credits`, `io-ways`, `home-trackers`, `read-queue`,
    /// `write-queue`, `dram`, `socket-link`, `miss-registers`, `cores`, `tx-descriptors`, `tx-fetches`.
    pub domain: String,
    /// What one credit is for: `frame`, `B`, `descriptor`, `TLP`, `line`, ...
    pub unit: String,
    /// Credits that there are.
    pub credits: u64,
    /// Time integral of those in use, credit × ps.
    pub busy_ps: u64,
    /// Credits taken.
    pub uses: u64,
    /// Time in which something waited for a credit while none was free, ps. (Of `write-queue`, for which a
    /// write waited: with `machine.dram.admission = "in-order"` the read queue may be the full one.)
    pub starved_ps: u64,
    /// Time integral of the lines of DMA writes that wait in this domain and hold their credits, line × ps;
    /// those that wait for `pcie` have not taken them yet, but could.
    pub holds_writes_ps: u64,
    /// The same of the lines of DMA reads.
    pub holds_reads_ps: u64,
    /// Time integral of the requests of cores that wait in this domain, request × ps.
    pub holds_cores_ps: u64,
}

/// A receive queue and the send queue of the same core: what one has, others cannot use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResults {
    /// The core, from 0.
    pub core: u32,
    /// Packets that came for it, dropped or not.
    pub offered: u64,
    /// Packets that took a receive descriptor.
    pub received: u64,
    /// Time integral of the receive descriptors that hold a packet or wait until the NIC knows that
    /// they are posted again, descriptor × ps.
    pub rx_busy_ps: u64,
    /// Time that visible packets waited for the core, packet × ps.
    pub rx_waited_ps: u64,
    /// Time integral of those that it knows of and has not read, descriptor × ps.
    pub rx_unfetched_ps: u64,
    /// Reads of receive descriptors.
    pub rx_fetches: u64,
    /// Time that these took, ps.
    pub rx_fetching_ps: u64,
    /// Packets that took a transmit descriptor.
    pub sent: u64,
    /// Time integral of the transmit descriptors that the driver has taken and not taken back,
    /// descriptor × ps.
    pub tx_busy_ps: u64,
    /// Time in which the core left packets waiting because there was no transmit descriptor for
    /// what they would send, ps.
    pub tx_starved_ps: u64,
    /// Time integral of the packets whose transmit doorbell is at the NIC and whose data it has not
    /// asked for, packet × ps.
    pub tx_unread_ps: u64,
    /// Reads of transmit descriptors by themselves (`nic.tx_descriptor_batch`).
    pub tx_fetches: u64,
    /// Time that these took, ps.
    pub tx_fetching_ps: u64,
    /// Time from the begin of each until the NIC had asked for all the data of its packets, ps. The
    /// next begins when it has.
    pub tx_turn_ps: u64,
}

/// What the time of cores went into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreTime {
    /// Time in which they did not wait for the next packet, or with work of their own, core × ps.
    pub busy_ps: u64,
    /// That of the busiest core, ps: queues differ in what RSS gives them.
    pub busiest_ps: u64,
    /// Time in which they dispatched instructions, core × ps; the rest of `busy_ps` they waited.
    pub dispatch_ps: u64,
    /// Requests that the LLC served.
    pub llc_hits: u64,
    /// Requests that memory served.
    pub llc_misses: u64,
}

/// What an application counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TenantResults {
    /// The tenant's name.
    pub name: String,
    /// Work done per second: requests for servers, accesses for X-Mem, bytes for STREAM, in millions. It counts
    /// what a core has taken up: of its last burst of packets, 128 accesses or 64 lines some may be still to do.
    pub progress_mps: f64,
    /// LLC hits of its cores' demand accesses.
    pub llc_hits: u64,
    /// LLC misses of its cores' demand accesses, also of lines that were being prefetched from memory.
    pub llc_misses: u64,
    /// Mean time of its cores' loads and stores from issue to data, ns; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amat_ns: Option<f64>,
    /// Traffic between processor and memory for lines that are the tenant's, by every cause that occurred: its
    /// application's data, and the rings and buffers of its queues, whoever moved them. What of the whole belongs to no
    /// tenant is that of page tables and of a DMA benchmark.
    #[serde(default)]
    pub memory: Vec<CauseTraffic>,
    /// The application's own counters, by name.
    pub counters: BTreeMap<String, u64>,
    /// STREAM's bandwidth on each of the tenant's cores, as it counts it: what the loops read and
    /// write, without the lines that stores read, GB/s (10^9 bytes). Absent for other applications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_gbytes_per_s_by_core: Option<Vec<f64>>,
}

/// Time series, all of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSeries {
    /// Spacing, ns.
    pub interval_ns: f64,
    /// Time of the first sample's begin since the start of the run, ns.
    pub start_ns: f64,
    /// The columns.
    pub columns: Vec<Series>,
}

/// One column of a time series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// `offered`, `completed`, `dropped` (Mpps), `nic-sram` (KiB at the sample), `queue` (packets
    /// waiting), `memory-rd`, `memory-wr` (GB/s), `rx-evct` (GB/s); with closed-loop traffic also
    /// `goodput` (Gbps), `sent-again` (Mpps), `window` (packets, mean), `fabric-delay`,
    /// `host-delay` (us, mean) and `switch-queue` (KiB at the sample).
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// One value an interval.
    pub values: Vec<f64>,
}

/// A balance: what went in equals what came out or is still inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// What is conserved.
    pub what: String,
    /// Left side.
    pub entered: u64,
    /// Right side.
    pub accounted: u64,
}

impl Balance {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.entered == self.accounted
    }
}

/// The highest rate that keeps the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// The highest rate at which the objective was seen to hold, completed Mpps.
    pub peak_mpps: f64,
    /// The same as `traffic.rate` takes it, Gbit/s on the wire: of the whole capture on average, of bursts
    /// while on. Absent where clients draw the sizes of synthetic traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_gbps: Option<f64>,
    /// The lowest rate at which it was seen to fail, Mpps; the peak lies between the two. Absent where
    /// it holds up to the line rate of the network link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_at_mpps: Option<f64>,
    /// What failed there: `p99`, `drops` or `rate` (completions fall behind arrivals); `link` where
    /// nothing does before the network link is full.
    pub failed_by: String,
    /// Every rate that was tried, in order.
    pub probes: Vec<Probe>,
    /// The run at the peak.
    pub results: Results,
}

/// One rate that a peak search tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Offered, Mpps.
    pub offered_mpps: f64,
    /// Completed, Mpps.
    pub completed_mpps: f64,
    /// 99th percentile of the total latency, ns.
    pub p99_ns: f64,
    /// The limit it is held against, ns.
    pub p99_limit_ns: f64,
    /// Dropped share, 0 to 1.
    pub drop_share: f64,
    /// Whether the objective held.
    pub holds: bool,
}
