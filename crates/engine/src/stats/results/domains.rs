//! The domains on the path, and what works at its ends: queues, cores and tenants.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::CauseTraffic;

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
