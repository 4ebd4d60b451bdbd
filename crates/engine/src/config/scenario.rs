//! The scenario: a machine, the traffic, the software on it, and what is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::apps::config::AppConfig;
use crate::check::Check;
use crate::memory::line::MemoryNode;
use crate::memory::placement::config::Placement;
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
    /// What arrives; absent for a run without packets.
    #[serde(default)]
    pub traffic: Option<TrafficConfig>,
    /// A benchmark that the device runs instead of receiving packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma_bench: Option<DmaBench>,
    /// Where the data of received packets goes.
    pub placement: Placement,
    /// The receive and transmit queues of each core that serves packets.
    pub queues: Queues,
    /// The software: who runs on which cores.
    pub tenants: Vec<Tenant>,
    /// How long, and from which random numbers.
    pub run: Run,
    /// What a peak search must keep.
    #[serde(default)]
    pub slo: Slo,
}

impl Scenario {
    /// Whether anything lies in the memory of the other socket.
    pub fn uses_remote_memory(&self) -> bool {
        let remote = |memory| memory == MemoryNode::Remote;
        self.traffic.is_some() && remote(self.queues.memory)
            || self.tenants.iter().any(|t| t.runs() && t.app.has_data() && remote(t.memory))
    }

    /// The tenants whose cores have queues.
    pub(crate) fn serving(&self) -> impl Iterator<Item = &Tenant> {
        self.tenants.iter().filter(|t| t.app.serves_packets())
    }

    /// Cores that have a queue.
    pub(crate) fn serving_cores(&self) -> u32 {
        self.serving().map(|t| t.cores.count).sum()
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
    /// Name in results.
    pub name: String,
    /// What it runs.
    pub app: AppConfig,
    /// First core and number of cores.
    pub cores: CoreRange,
    /// LLC ways in which these cores may allocate, as first way and number of ways; all unless
    /// given.
    #[serde(default)]
    pub llc_ways: Option<WayRange>,
    /// Where the application's own data lies.
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
    /// How many; of a memory benchmark also none, as the baseline of a comparison.
    pub count: u32,
}

/// Consecutive LLC ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayRange {
    /// The first way, from 0. The I/O ways are the lowest ones.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// How long, and from which random numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Seed of all random numbers of the run.
    #[serde(default = "Run::default_seed")]
    pub seed: u64,
    /// Simulated time before anything is counted: caches and queues fill.
    pub warmup: Duration,
    /// Simulated time that is measured.
    pub duration: Duration,
    /// Spacing of the time series. What is left of `duration` behind the last whole one is in no sample.
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

/// The service-level objective that a peak must keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Slo {
    /// The 99th percentile of latency is at most this many mean service times (Sweeper paper,
    /// appendix: 100), as they are at the rate with which a search begins: half of the scenario's, or less
    /// where the link or the server does not carry that.
    pub p99_service_times: u32,
    /// The 99th percentile of latency is at most this; in place of `p99_service_times`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Duration>,
    /// At most this share of packets is dropped.
    pub drops: Share,
}

impl Default for Slo {
    fn default() -> Slo {
        Slo { p99_service_times: 100, p99: None, drops: Share(0) }
    }
}

/// Far more than a run of hours reaches, and far from the 213 days that the clock can count.
const MAX_SIMULATED: Duration = Duration(1_000 * 1_000_000_000_000);

/// Far more than any service bears.
const MAX_DROPS: Share = Share(99_000);

/// A series of a million values a column still fits in memory; more is surely a wrong unit.
const MAX_SAMPLES: u64 = 1_000_000;

impl Run {
    /// Notes which values cannot be simulated.
    pub(super) fn check(&self, check: &mut Check) {
        check.within("warmup", self.warmup, Duration(0)..=MAX_SIMULATED);
        check.within("duration", self.duration, Duration(1)..=MAX_SIMULATED);
        let finest = Duration((self.duration.0 / MAX_SAMPLES).max(1));
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
    /// What the 99th percentile is held against if a service takes so long on average, ns.
    pub(crate) fn p99_limit_ns(&self, service_mean_ns: f64) -> f64 {
        match self.p99 {
            Some(p99) => p99.ps().as_ns_f64(),
            None => service_mean_ns * f64::from(self.p99_service_times),
        }
    }

    /// Notes which values cannot be kept.
    pub(super) fn check(&self, check: &mut Check) {
        check.at_least_one("p99_service_times", self.p99_service_times);
        if let Some(p99) = self.p99 {
            check.within("p99", p99, Duration(1)..=MAX_SIMULATED);
        }
        // Of 100 % there is no peak: any rate would do.
        check.within("drops", self.drops, Share(0)..=MAX_DROPS);
    }
}
