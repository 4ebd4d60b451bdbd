//! The domains on the path, and what is at its end: queues, cores and tenants.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::CauseTraffic;

/// How the credits of one domain on the path were used; for a server, its credits are what it can
/// do at a time. Exact integers; means, latencies and rates are derived from them
/// (docs/models/explain.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Domain {
    /// `wire`, `nic-sram`, `packet-engine`, `descriptors`, `rx-fetches`, `pcie` or `nic-port`, `posted-credits`,
    /// `read-tags`, `iommu`, `invalidations`, `io-credits`, `read-credits`, `io-ways`, `home-trackers`, `read-queue`,
    /// `write-queue`, `dram`, `socket-link`, `miss-registers`, `cores`, `tx-descriptors`, `tx-fetches`.
    pub domain: String,
    /// What one credit stands for: `frame`, `B`, `descriptor`, `TLP`, `line`, ...
    pub unit: String,
    /// Number of credits.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub credits: u64,
    /// Time integral of the credits in use, credit × ps. (For `io-ways`, whose lines are not tracked over
    /// time: the lines in use at the end, for all of the measured time. A frame on the `wire` and a read of
    /// `rx-fetches` count whole when they end.)
    pub busy_ps: u64,
    /// How often a credit was taken.
    pub uses: u64,
    /// Time in which something waited for a credit while none was free, ps. (For `posted-credits` and
    /// `io-credits`: only while the link is free, as what waits for a busy link could not use one. For `write-queue`:
    /// time in which a write waited; with `machine.dram.admission = "in-order"` the full queue may
    /// be the read queue.)
    pub starved_ps: u64,
    /// Time integral of the lines of DMA writes that wait in this domain while holding their
    /// credits, line × ps. Lines that wait for `pcie` have not taken their credits yet, but could.
    pub holds_writes_ps: u64,
    /// The same for the lines of DMA reads.
    pub holds_reads_ps: u64,
    /// Time integral of the core requests that wait in this domain, request × ps. (For `invalidations`, each wait
    /// counts whole when it begins.)
    pub holds_cores_ps: u64,
}

/// The receive and the send queue of one core, whose descriptors other queues cannot use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResults {
    /// The core, from 0.
    pub core: u32,
    /// Time in which the core did not wait for the next packet, ps; absent in results from before
    /// 29 November 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_busy_ps: Option<u64>,
    /// Packets that arrived for this queue, dropped or not.
    pub offered: u64,
    /// Packets that took a receive descriptor.
    pub received: u64,
    /// Packets for this queue that were dropped, in the NIC's SRAM or for lack of a descriptor; absent in
    /// results from before 1 December 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// Time integral of the receive descriptors that hold a packet or wait until the NIC knows that
    /// they are posted again, descriptor × ps.
    pub rx_busy_ps: u64,
    /// Time integral of the visible packets that the core has not begun, packet × ps.
    pub rx_waited_ps: u64,
    /// Time integral of the posted receive descriptors that the NIC knows of but has not read,
    /// descriptor × ps.
    pub rx_unfetched_ps: u64,
    /// Reads of receive descriptors.
    pub rx_fetches: u64,
    /// Total time that these reads took, ps.
    pub rx_fetching_ps: u64,
    /// Packets that took a transmit descriptor.
    pub sent: u64,
    /// Time integral of the transmit descriptors that the driver has taken and not yet reclaimed,
    /// descriptor × ps.
    pub tx_busy_ps: u64,
    /// Time in which the core took no packet of those that waited, for lack of transmit descriptors for
    /// what they would send, ps.
    pub tx_starved_ps: u64,
    /// Time integral of the packets whose transmit doorbell has reached the NIC but whose data the
    /// NIC has not requested yet, packet × ps.
    pub tx_unread_ps: u64,
    /// Separate reads of transmit descriptors (`nic.tx_descriptor_batch`).
    pub tx_fetches: u64,
    /// Total time that these reads took, ps.
    pub tx_fetching_ps: u64,
    /// The part of it in which they waited for PCIe to carry them, or were carried: none with an infinitely wide link,
    /// ps. 0 in results of older versions.
    #[serde(default)]
    pub tx_fetching_link_ps: u64,
    /// Time from when the NIC wanted each such read, perhaps before there was a tag for it, until it had all
    /// the data of its packets, ps. Only then does it want the next.
    pub tx_turn_ps: u64,
}

/// How cores spent their time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreTime {
    /// Time in which they did not wait for the next packet, or did work of their own, core × ps.
    pub busy_ps: u64,
    /// The same for the busiest core alone, ps: RSS gives queues different shares.
    pub busiest_ps: u64,
    /// Time in which they dispatched instructions, core × ps; for the rest of `busy_ps` they
    /// stalled.
    pub dispatch_ps: u64,
    /// Requests that the LLC or another core's cache served, second ones for write permission to a line included.
    pub llc_hits: u64,
    /// Requests that memory served.
    pub llc_misses: u64,
}

/// The results of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TenantResults {
    /// The tenant's name.
    pub name: String,
    /// Whether it sends packets from the buffers that they arrived in.
    #[serde(default)]
    pub sends_in_place: bool,
    /// Work done per second, in millions: requests for servers, accesses for X-Mem, bytes for
    /// STREAM. It counts work that a core has started, so part of its last burst of packets, 128
    /// accesses or 64 lines may be unfinished.
    pub progress_mps: f64,
    /// LLC hits of its cores' demand accesses. A store that joined the miss of a load asks a second
    /// time, for write permission, which counts here and not in the hits of the caches.
    pub llc_hits: u64,
    /// LLC misses of its cores' demand accesses, including those to lines still being prefetched
    /// from memory.
    pub llc_misses: u64,
    /// Mean time of its cores' loads and stores from issue to data, ns; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amat_ns: Option<f64>,
    /// Share of the time in which all miss registers of a core were busy, mean over its cores.
    #[serde(default)]
    pub miss_registers_full: f64,
    /// Memory traffic for the tenant's own lines, whoever moved them, by every cause that occurred.
    /// Its lines are its application's data and the rings and buffers of its queues. Only the
    /// traffic of page tables and of a DMA benchmark belongs to no tenant.
    #[serde(default)]
    pub memory: Vec<CauseTraffic>,
    /// The application's own counters, by name.
    pub counters: BTreeMap<String, u64>,
    /// STREAM's bandwidth on each of the tenant's cores, as STREAM counts it: what the loops read
    /// and write, without the lines that stores read for ownership, GB/s (10^9 bytes). Absent for
    /// other applications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_gbytes_per_s_by_core: Option<Vec<f64>>,
}
