//! The result of a run: plain data, the same for Rust, Python and files.
//!
//! Times are in nanoseconds and rates in the unit their name ends with; they are derived from
//! integer counters when the run ends and never flow back into the model. What means nothing in a
//! configuration is absent, not zero.

mod distribution;
mod domains;
mod memory;
mod peak;
mod series;
mod traffic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, StageLatency};
pub use domains::{CoreTime, Domain, QueueResults, TenantResults};
pub use memory::{
    CacheResults, CauseTraffic, DmaResults, DramResults, IoResults, IommuResults, IotlbResults,
    MemoryTraffic, NodeTraffic, SocketLinkResults,
};
pub use peak::{Peak, Probe};
pub use series::{Series, TimeSeries};
pub use traffic::{CaptureFacts, CaptureGap, ConnectionResults, Packets, TransportResults};

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
