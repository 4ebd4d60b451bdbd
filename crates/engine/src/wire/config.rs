//! How a user describes the traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::config::ClosedLoopConfig;
use crate::units::{Duration, Size, TrafficRate};

/// The traffic that reaches the NIC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// Packets at equal distances.
    Constant {
        /// Packets per second; or bits per second on the wire, preamble, FCS and inter-packet gap
        /// included, which become whole packets per second by the mean of `sizes`.
        rate: TrafficRate,
        /// How long the packets are; without effect where clients decide (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// How many flows they belong to, all equally likely.
        flows: u32,
    },
    /// Packets at exponential distances: many independent clients.
    Poisson {
        /// Packets per second on average; or bits per second on the wire, preamble, FCS and
        /// inter-packet gap included, which become whole packets per second by the mean of `sizes`.
        rate: TrafficRate,
        /// How long the packets are; without effect where clients decide (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// How many flows they belong to, all equally likely.
        flows: u32,
    },
    /// A constant rate that is switched on and off, as in the burst mode of traffic generators.
    Bursts {
        /// Packets per second while on; or bits per second on the wire, preamble, FCS and inter-packet
        /// gap included, which become whole packets per second by the mean of `sizes`.
        rate: TrafficRate,
        /// How long a burst lasts.
        on: Duration,
        /// How long the pause after it lasts.
        off: Duration,
        /// How long the packets are; without effect where clients decide (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// How many flows they belong to, all equally likely.
        flows: u32,
    },
    /// The packets of a capture with its sizes and flows, repeated when the run is longer.
    Replay {
        /// A pcap or pcapng file, relative to the scenario.
        file: String,
        /// Stretch the times so that the capture fills this much of a link on average, preamble,
        /// FCS and inter-packet gap included, or brings so many packets per second on average. Absent:
        /// the times as recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<TrafficRate>,
    },
    /// No rate: every core always finds unconsumed packets (Sweeper, section IV-B).
    Backlog {
        /// The least number of unconsumed packets in the queue of each core, at most `queues.rx_descriptors`, as far as
        /// these are posted. They are not paced by `machine.nic.link`.
        depth: u32,
        /// How long the packets are; without effect where clients decide (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// How many flows they belong to, all equally likely.
        flows: u32,
    },
    /// No rate of its own: machines across a switch answer the server's reads, under a congestion
    /// control that hears its acknowledgements.
    ClosedLoop(ClosedLoopConfig),
}

impl TrafficConfig {
    /// The configuration of closed-loop traffic.
    pub(crate) fn closed_loop(&self) -> Option<&ClosedLoopConfig> {
        match self {
            TrafficConfig::ClosedLoop(config) => Some(config),
            _ => None,
        }
    }
}

/// How long synthetic packets are. Sizes are those of the frame as it lands in the buffer, without
/// the 4 bytes of FCS: the "64-byte packet" of data sheets is 60 bytes here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizesConfig {
    /// All the same.
    Fixed {
        /// Bytes of every frame.
        size: Size,
    },
    /// Several sizes, each in proportion to its weight. The simple IMIX (64, 594 and 1518 bytes
    /// with FCS, 7:4:1) is 60, 590 and 1514 bytes with the weights 7, 4 and 1.
    Mix {
        /// The sizes; at least one.
        of: Vec<SizeShare>,
    },
}

/// One size of a mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Bytes of the frame.
    pub size: Size,
    /// Share of the packets, relative to the sum of all weights.
    pub weight: u32,
}
