//! Time series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time series, all of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSeries {
    /// Sampling interval, ns.
    pub interval_ns: f64,
    /// Start of the first sampling interval, from the start of the run, ns.
    pub start_ns: f64,
    /// The columns.
    pub columns: Vec<Series>,
}

/// One column of a time series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// `offered`, `completed`, `dropped` (Mpps), `nic-sram` (KiB at the sample), `queue` (packets
    /// waiting), `memory-rd`, `memory-wr` (GB/s), `rx-evct` (GB/s); with closed-loop traffic also
    /// `goodput` (Gbps), `sent-again` (Mpps), `window` (packets, mean at the sample), `fabric-delay`,
    /// `host-delay` (us, mean), `switch-queue` (KiB at the sample), `switch-dropped` and `marked`
    /// (Mpps); with rivals `rivals-goodput` and `rivals-window`, which are theirs alone; and for each
    /// connection of `traffic.watched` `window-N` or, of a rival, `rivals-window-N` (packets), N being the number of
    /// its sender.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// One value per interval; null where there is none: a mean delay while no acknowledgement came.
    pub values: Vec<Option<f64>>,
}
