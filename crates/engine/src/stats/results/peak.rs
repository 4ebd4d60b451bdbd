//! The search for the highest rate that meets the objective.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Results;

/// The highest rate that meets the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// The highest rate at which the objective was met, completed Mpps.
    pub peak_mpps: f64,
    /// What was offered there, in the terms of `traffic.rate`, Mpps: for a capture the average over all of it, for
    /// bursts the rate while on. It exceeds what was completed by what the objective lets be dropped. Absent from
    /// results of older versions.
    #[serde(default)]
    pub rate_mpps: Option<f64>,
    /// The same in Gbit/s on the wire. Absent if clients draw the sizes of synthetic traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_gbps: Option<f64>,
    /// The lowest rate at which the objective was missed, offered Mpps: the highest that may be offered lies
    /// between the two. Absent if it is met up to the line rate of the network link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_at_mpps: Option<f64>,
    /// What failed there: `p99`, `drops` or `rate` (completions fall behind arrivals); `link` if
    /// nothing fails before the network link is full.
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
    /// The limit for it, ns.
    pub p99_limit_ns: f64,
    /// Dropped share, 0 to 1.
    pub drop_share: f64,
    /// Whether the objective was met.
    pub holds: bool,
}
