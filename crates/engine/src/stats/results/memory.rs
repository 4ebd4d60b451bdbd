//! Memory, caches, and DMA.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Traffic between processor and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTraffic {
    /// Reads and writes together, GB/s (10^9 bytes).
    pub bandwidth_gbytes_per_s: f64,
    /// What the channels' data buses could carry, GB/s.
    pub bus_limit_gbytes_per_s: f64,
    /// Every cause that occurred.
    pub causes: Vec<CauseTraffic>,
    /// Dirty lines in the caches when the measured time began.
    #[serde(default)]
    pub dirty_begin: u64,
    /// The same at its end. An increase is data that was written to the caches but not to memory yet.
    #[serde(default)]
    pub dirty_end: u64,
    /// Traffic of each memory node; empty unless something lies on the remote one.
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

/// Traffic on the link between the sockets, headers included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SocketLinkResults {
    /// Requests and written lines, to the remote node, GB/s (10^9 bytes).
    pub to_remote_gbytes_per_s: f64,
    /// Lines read from the remote node, GB/s.
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
    /// Mean time that reads would take if none waited for another, given the row states that they
    /// found, ns; absent if there were none.
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
    /// Accesses that did not find it.
    pub misses: u64,
}

/// DMA by the NIC, in cache lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoResults {
    /// Writes to the LLC that found the line there, or in the LLC's snoop filter because a core
    /// holds it. These are writes of received packets, completions of sent packets (which take no
    /// write credits) and a DMA benchmark. Absent, like the misses, if none went to the LLC, as
    /// with `dma`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hits: Option<u64>,
    /// Write hits on lines that only a core's cache held: the line moved to the I/O ways, where it
    /// may have evicted another one, as a miss does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_moves: Option<u64>,
    /// Writes to the LLC that found the line in no cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_misses: Option<u64>,
    /// Writes that bypassed the LLC: with `dma` all; otherwise those to the remote node and, with
    /// `ddio-headers`, payload.
    #[serde(default)]
    pub write_bypasses: u64,
    /// Reads served by a cache.
    pub read_hits: u64,
    /// Reads served by memory.
    pub read_misses: u64,
    /// Credits for lines on their way from the NIC until they are written.
    pub write_credits: u32,
    /// Mean number of these in use.
    pub write_credits_used: f64,
    /// Mean time for which a line held its credit, ns; absent if none was written.
    pub write_latency_ns: Option<f64>,
    /// Time in which PCIe carried something towards the memory system, ps; absent without PCIe.
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
    /// behind other transactions, ns; absent if none was written.
    pub write_wait_ns: Option<f64>,
    /// Page walks that finished.
    pub walks: u64,
    /// Page-table entries that the walks read, each from LLC or memory.
    pub walk_reads: u64,
    /// Mean time from a miss to its translation, including the wait for a walker, ns; absent if no
    /// walk finished.
    pub miss_latency_ns: Option<f64>,
    /// Invalidations that cores waited for; absent if nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidations: Option<u64>,
    /// Mean time that each of them took, including the wait for others, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidation_wait_ns: Option<f64>,
    /// Core time spent mapping and unmapping buffers, without waits for invalidations, core × ps;
    /// absent if nothing is unmapped at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_ps: Option<u64>,
    /// Mean number of walks under way.
    pub walkers_busy: f64,
}

/// IOTLB lookups for one kind of mapping, one for each page that a transaction touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IotlbResults {
    /// `payload`, `descriptor`, `completion` or `acknowledgement`.
    pub mapping: String,
    /// Lookups that found the translation, or found the preceding transaction already waiting for it.
    pub hits: u64,
    /// Lookups that required a walk.
    pub misses: u64,
    /// Misses per received packet; absent if none was completed.
    pub misses_per_packet: Option<f64>,
}

/// The DMA benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DmaResults {
    /// Transactions completed: all data read is at the device, or all data written is in the memory system.
    pub transactions: u64,
    /// Payload, Gbit/s.
    pub gbps: f64,
    /// Mean latency of a read at the device, ns; absent for writes, whose end the device does not see.
    pub latency_ns: Option<f64>,
}
