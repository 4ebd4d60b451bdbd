//! The memory, the caches, and DMA to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Traffic between processor and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTraffic {
    /// Reads and writes together, GB/s (10^9 bytes).
    pub bandwidth_gbytes_per_s: f64,
    /// Capacity of the channels' data buses, GB/s.
    pub bus_limit_gbytes_per_s: f64,
    /// Every cause that occurred, and those of the Sweeper paper's figure 1c in any case.
    pub causes: Vec<CauseTraffic>,
    /// Dirty lines in the caches when the measured time began.
    #[serde(default)]
    pub dirty_begin: u64,
    /// The same when it ended. Any increase was written to the caches but not yet to memory.
    #[serde(default)]
    pub dirty_end: u64,
    /// The traffic of each memory node; empty unless something is on the remote one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeTraffic>,
    /// The link between the sockets; absent unless something is on the remote node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_link: Option<SocketLinkResults>,
}

/// Traffic of one node's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeTraffic {
    /// `local` (that of the cores and the NIC) or `remote`.
    pub node: String,
    /// Reads and writes together, GB/s (10^9 bytes).
    pub bandwidth_gbytes_per_s: f64,
    /// Capacity of the data buses of the node's channels, GB/s.
    pub bus_limit_gbytes_per_s: f64,
    /// Whether queues and channels among the domains are this node's.
    #[serde(default)]
    pub in_domains: bool,
    /// Mean latency of its reads, as [`DramResults::read_latency`], ns; absent without reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_ns: Option<f64>,
    /// Every cause that occurred, and those of the Sweeper paper's figure 1c in any case.
    pub causes: Vec<CauseTraffic>,
}

/// What the link between the sockets was given to carry, headers included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SocketLinkResults {
    /// Towards the remote node (requests and written lines), GB/s (10^9 bytes).
    pub to_remote_gbytes_per_s: f64,
    /// From the remote node (lines read), GB/s.
    pub to_local_gbytes_per_s: f64,
    /// Capacity of each direction, GB/s.
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
    /// Lines moved.
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
    /// Mean time of reads if none had to wait for another, with the row states as they were, ns;
    /// absent without reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unloaded_ns: Option<f64>,
    /// Column accesses by state of the row: hits here, rows opened in a closed bank and conflicts
    /// below.
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
    /// Accesses that found the line. Those of `llc` include lines that another core's cache supplied.
    pub hits: u64,
    /// Accesses that did not; in `l1d` and `l2` also stores to a line that is there without the right to write it.
    pub misses: u64,
}

/// Lines of one way of the LLC that belong to one tenant and hold the same, when the measured time ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlcContents {
    /// The way, from 0. The I/O ways are the first.
    pub way: u32,
    /// `rx` (data of packets that are on their way, or that the application keeps), `rx-consumed` (data in
    /// receive buffers that hold no packet any more), `tx`, `descriptor`, `mbuf`, `app`, or `bench`.
    pub kind: String,
    /// The tenant; absent if they belong to none, as page tables do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// How many they are.
    pub lines: u64,
    /// How many of them are dirty in the LLC itself; copies in the cores' caches may be newer.
    pub dirty: u64,
    /// What share of the way they are, 0 to 1.
    pub share: f64,
}

/// DMA of one kind of line: what placement does with it, in cache lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoKindResults {
    /// `rx` for packet data in receive buffers, `tx` for that in transmit buffers, `descriptor` for descriptors and
    /// completions, `bench` for a DMA benchmark.
    pub kind: String,
    /// Lines written, wherever they went; absent in results from before 1 December 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// Writes that found the line in the LLC or in a core's cache.
    pub write_hits: u64,
    /// Of these, those of lines that only a core's cache held.
    pub write_moves: u64,
    /// Writes that found it in neither.
    pub write_misses: u64,
    /// Writes that bypassed the LLC.
    pub write_bypasses: u64,
    /// Writes of what lies outside of the caches, as packets do under `ideal-ddio`.
    pub write_asides: u64,
    /// Reads served by a cache, or from outside of the caches.
    pub read_hits: u64,
    /// Reads served by memory.
    pub read_misses: u64,
}

impl IoKindResults {
    /// All lines read and written.
    pub(crate) fn lines(&self) -> u64 {
        self.written.unwrap_or_default() + self.read_hits + self.read_misses
    }
}

/// DMA by the NIC, in cache lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoResults {
    /// Lines written, wherever they went; absent in results from before 1 December 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// Writes to the LLC that found the line there, or found by the snoop filter that a core holds
    /// it. Writes are those of received packets, of completions of sent packets (which take no
    /// write credits) and of a DMA benchmark. Hits and misses are absent if no write went to the
    /// LLC, as with `dma`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hits: Option<u64>,
    /// Hits on lines that only a core's cache held: the line moved to the I/O ways, where, as with
    /// a miss, it may have evicted another line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_moves: Option<u64>,
    /// Writes to the LLC that found the line in no cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_misses: Option<u64>,
    /// Writes that bypassed the LLC: with `dma` all; otherwise those to the remote node and, with
    /// `ddio-headers`, payload.
    #[serde(default)]
    pub write_bypasses: u64,
    /// Lines of receive buffers that packets have been written to since the run began, each counted once: if the
    /// I/O ways are to hold all of what is written in turn, they must hold these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_footprint_lines: Option<u64>,
    /// Reads served by a cache.
    pub read_hits: u64,
    /// Reads served by memory.
    pub read_misses: u64,
    /// The same for each kind of line that there was.
    #[serde(default)]
    pub by_kind: Vec<IoKindResults>,
    /// Credits for lines in flight from the NIC until they are written.
    #[serde(default)]
    pub write_credits: u32,
    /// Mean number of write credits in use.
    #[serde(default)]
    pub write_credits_used: f64,
    /// Mean time for which a line held its write credit, ns; absent if none was written.
    #[serde(default)]
    pub write_latency_ns: Option<f64>,
    /// Time in which PCIe was busy towards the memory system, ps; absent without PCIe.
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
    /// Mean time that a line written by the NIC waits for its translation, including the wait
    /// behind others, ns; absent if none was written.
    #[serde(default)]
    pub write_wait_ns: Option<f64>,
    /// Completed page walks.
    pub walks: u64,
    /// Page-table entries that the walks read, each from LLC or memory.
    pub walk_reads: u64,
    /// Mean time from a miss to its translation, including the wait for a walker, ns; absent if no
    /// walk completed.
    pub miss_latency_ns: Option<f64>,
    /// Invalidations that cores waited for; absent if nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidations: Option<u64>,
    /// Mean time of an invalidation, including the wait for others, ns; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidation_wait_ns: Option<f64>,
    /// Core time spent mapping and unmapping buffers, without waits for invalidations, core × ps;
    /// absent if nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_ps: Option<u64>,
    /// Mean number of walks in progress.
    pub walkers_busy: f64,
}

/// IOTLB lookups for one kind of mapping, one for each page that a transaction touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IotlbResults {
    /// `payload`, `descriptor`, `completion` or `acknowledgement`.
    pub mapping: String,
    /// Lookups that found the translation, or the preceding transaction already waiting for it.
    pub hits: u64,
    /// Lookups that needed a walk.
    pub misses: u64,
    /// The hits of DMA reads alone.
    #[serde(default)]
    pub read_hits: u64,
    /// The misses of DMA reads alone.
    #[serde(default)]
    pub read_misses: u64,
    /// Misses per received packet; absent if none was completed.
    #[serde(default)]
    pub misses_per_packet: Option<f64>,
}

/// The DMA benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DmaResults {
    /// Completed transactions: all data read is at the device, or all data written is in the memory
    /// system.
    pub transactions: u64,
    /// Payload, Gbit/s.
    pub gbps: f64,
    /// Mean latency of a read at the device, ns; absent for writes, whose end the device does not
    /// see.
    pub latency_ns: Option<f64>,
}
