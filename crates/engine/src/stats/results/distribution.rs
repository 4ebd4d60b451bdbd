//! Latencies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distribution of a latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Percentiles, ns: (percent, value), ascending: 50, 90, 99, 99.9, 100. Each is the upper edge of a
    /// bucket of the histogram, so up to 0.8 % above a value that occurred.
    pub percentiles_ns: Vec<(f64, f64)>,
    /// The cumulative distribution, ascending: (ns, share of samples up to that, 0 to 1).
    pub cdf: Vec<(f64, f64)>,
}

/// Latency of one stage of a packet's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageLatency {
    /// `nic` (from arrival until the packet has its receive descriptor), `dma` (until its
    /// completion is visible), `queue` (until its service begins), `service` (until the end of the
    /// request), `transmit` (until its last byte leaves), `total` (from arrival until the end of
    /// the request), `sent` (from arrival until the last byte of the reply, or of the packet
    /// forwarded, leaves).
    pub stage: String,
    /// Its distribution.
    pub distribution: Distribution,
}
