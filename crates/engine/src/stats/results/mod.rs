//! The result of a run: plain data, the same for Rust, Python and files.
//!
//! Times are in nanoseconds and rates in the unit that their name ends with; they are derived from
//! integer counters at the end of the run and never flow back into the model. A value that has no
//! meaning in a configuration is absent, not zero.
//!
//! `make codegen` writes the Python classes from these types. Python requires every key that the
//! engine always writes; `#[serde(default)]` is for keys that saved results may lack.

mod distribution;
mod domains;
mod memory;
mod peak;
mod series;
mod traffic;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, StageLatency};
pub use domains::{CoreTime, Domain, QueueResults, TenantResults};
pub use memory::{
    CacheResults, CauseTraffic, DmaResults, DramResults, IoKindResults, IoResults, IommuResults,
    IotlbResults, LlcContents, MemoryTraffic, NodeTraffic, SocketLinkResults,
};
pub use peak::{Peak, Probe};
pub use series::{Series, TimeSeries};
pub use traffic::{
    CaptureFacts, CaptureGap, ConnectionResults, Packets, SendersResults, SizeResults,
    TransportResults,
};

/// The JSON Schema of a [`Peak`] as it is written. It includes that of [`Results`].
pub fn schema() -> Schema {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<Peak>()
}

/// Everything a run measured, over the measured time only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Version of the engine that produced the results.
    pub engine_version: String,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time that was measured, after the warm-up, ns.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub measured_ns: f64,
    /// Packets by outcome.
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
    /// What the ways of the LLC held when the measured time ended; absent in results of engines that did
    /// not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_contents: Option<Vec<LlcContents>>,
    /// DMA by the NIC; absent if there was none.
    pub io: Option<IoResults>,
    /// The IOMMU; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuResults>,
    /// The DMA benchmark; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<DmaResults>,
    /// Mean time of a core's memory access (loads and stores, all levels), ns; absent if there was
    /// none.
    pub amat_ns: Option<f64>,
    /// Nominal rate of traffic whose arrivals follow a time law, million packets per second; absent
    /// for other traffic, and without traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_mpps: Option<f64>,
    /// What the replayed capture contains, as parsed; absent for other traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureFacts>,
    /// The domains on the path, in path order.
    pub domains: Vec<Domain>,
    /// Each pair of queues, in the order of the tenants and of their cores; empty in a run without packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueResults>,
    /// How the cores that serve packets spent their time; if none does, all cores with a tenant.
    pub core_time: CoreTime,
    /// The results of each tenant.
    pub tenants: Vec<TenantResults>,
    /// Time series at the sampling interval.
    pub series: TimeSeries,
    /// The balances that were checked; a run in which one does not hold ends in an error.
    pub conservation: Vec<Balance>,
    /// Reads of data that had been swept: bugs in the application.
    pub reads_after_sweep: u64,
    /// Lines touched by a load or store that a core has issued, by the NIC or by a page walk of the IOMMU: a measure of
    /// the simulator's work. (Prefetches are not counted.)
    pub line_accesses: u64,
}

/// A conservation check: what went in equals what came out plus what is still inside.
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
