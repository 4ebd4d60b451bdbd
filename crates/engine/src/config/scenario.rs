//! The scenario: a machine, the traffic, the software on it, and what is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::apps::AppConfig;
use crate::check::Check;
use crate::memory::line::MemoryNode;
use crate::memory::placement::registry::Placement;
use crate::nic::config::Queues;
use crate::nic::dma_bench::DmaBench;
use crate::units::{Duration, Share};
use crate::wire::config::TrafficConfig;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The server. In a file: `base = "name of a machine file"` and any keys that differ from it.
    pub machine: Machine,
    /// The traffic that arrives; absent for a run without packets.
    #[serde(default)]
    pub traffic: Option<TrafficConfig>,
    /// A benchmark that the device runs instead of receiving packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma_bench: Option<DmaBench>,
    /// Where the data of received packets goes.
    pub placement: Placement,
    /// The receive and transmit queues of each core that serves packets.
    pub queues: Queues,
    /// The software: which applications run on which cores.
    pub tenants: Vec<Tenant>,
    /// Length and random seed of the run.
    pub run: Run,
    /// The objective that a peak search must meet.
    #[serde(default)]
    pub slo: Slo,
}

impl Scenario {
    /// Whether anything lies in the memory of the other socket.
    pub fn uses_remote_memory(&self) -> bool {
        let remote = |memory| memory == MemoryNode::Remote;
        self.traffic.is_some() && remote(self.queues.memory)
            || self
                .tenants
                .iter()
                .any(|t| t.runs() && t.app.settings().has_data() && remote(t.memory))
    }

    /// The tenants whose cores have queues.
    pub(crate) fn serving(&self) -> impl Iterator<Item = &Tenant> {
        self.tenants.iter().filter(|t| t.app.settings().serves_packets())
    }

    /// Cores that have a queue.
    pub(crate) fn serving_cores(&self) -> u32 {
        self.serving().map(|t| t.cores.count).fold(0, u32::saturating_add)
    }

    /// Whether any tenant has a core.
    pub fn runs_on_cores(&self) -> bool {
        self.tenants.iter().any(Tenant::runs)
    }
}

/// An application on some cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// Name, as shown in results.
    pub name: String,
    /// The application that it runs.
    pub app: AppConfig,
    /// First core and number of cores.
    pub cores: CoreRange,
    /// LLC ways in which these cores may allocate, as first way and number of ways. Absent: all ways.
    #[serde(default)]
    pub llc_ways: Option<WayRange>,
    /// Which socket's memory holds the application's own data. Its cores are on the NIC's socket all the same: of an
    /// application that is moved to the other socket with its memory, nothing is left here (`cores.count = 0`).
    #[serde(default)]
    pub memory: MemoryNode,
}

impl Tenant {
    /// Whether it has a core.
    pub fn runs(&self) -> bool {
        self.cores.count > 0
    }
}

/// Consecutive cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreRange {
    /// The first core, from 0.
    pub first: u32,
    /// Number of cores; a memory benchmark may have none, as the baseline of a comparison.
    pub count: u32,
}

/// Consecutive LLC ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayRange {
    /// The first way, from 0. The I/O ways are the lowest ones here and the highest on Intel's processors: way `i` is bit
    /// `ways - 1 - i` of a CAT mask.
    pub first: u32,
    /// Number of ways.
    pub count: u32,
}

/// Length and random seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Seed of all random numbers of the run.
    #[serde(default = "Run::default_seed")]
    pub seed: u64,
    /// Simulated time before anything is counted, in which caches and queues fill.
    pub warmup: Duration,
    /// Simulated time that is measured.
    pub duration: Duration,
    /// Interval of the time series. What remains of `duration` after the last whole interval is in
    /// no sample.
    #[serde(default = "Run::default_sample")]
    pub sample: Duration,
}

impl Run {
    const fn default_seed() -> u64 {
        1
    }
    const fn default_sample() -> Duration {
        Duration(20_000_000)
    }
}

/// The service-level objective that a peak must meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Slo {
    /// The 99th percentile of latency must be at most this many mean service times (Sweeper paper,
    /// appendix: 100). The service time is that at the rate with which the search begins: half of
    /// the scenario's rate, or less if the link or the server cannot carry that.
    pub p99_service_times: u32,
    /// The 99th percentile of latency must be at most this; replaces `p99_service_times`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Duration>,
    /// At most this share of the packets may be dropped.
    pub drops: Share,
}

impl Default for Slo {
    fn default() -> Slo {
        Slo { p99_service_times: 100, p99: None, drops: Share(0) }
    }
}

/// Far more than a run of hours reaches, and far below the 213 days that the clock can count.
const MAX_SIMULATED: Duration = Duration(1_000 * 1_000_000_000_000);

/// Far more than any service tolerates.
const MAX_DROPS: Share = Share(99_000);

/// A million values per column still fit in memory; more is surely a mistaken unit.
const MAX_SAMPLES: u64 = 1_000_000;

impl Run {
    /// Reports values that cannot be simulated.
    pub(super) fn check(&self, check: &mut Check) {
        check.within("warmup", self.warmup, Duration(0)..=MAX_SIMULATED);
        check.within("duration", self.duration, Duration(1)..=MAX_SIMULATED);
        let finest = Duration(self.duration.0.div_ceil(MAX_SAMPLES).max(1));
        if self.sample < finest {
            let allowed =
                format!("at least {finest}, for at most {MAX_SAMPLES} samples of run.duration");
            check.refuse("sample", self.sample, allowed);
        } else if self.sample > MAX_SIMULATED {
            check.refuse("sample", self.sample, format!("{finest} to {MAX_SIMULATED}"));
        }
    }
}

impl Slo {
    /// The limit for the 99th percentile, given the mean service time, ns.
    pub(crate) fn p99_limit_ns(&self, service_mean_ns: f64) -> f64 {
        match self.p99 {
            Some(p99) => p99.ps().as_ns_f64(),
            None => service_mean_ns * f64::from(self.p99_service_times),
        }
    }

    /// Reports values that cannot be an objective.
    pub(super) fn check(&self, check: &mut Check) {
        check.at_least_one("p99_service_times", self.p99_service_times);
        if let Some(p99) = self.p99 {
            check.within("p99", p99, Duration(1)..=MAX_SIMULATED);
        }
        // With 100 % there is no peak: any rate would do.
        check.within("drops", self.drops, Share(0)..=MAX_DROPS);
    }
}
