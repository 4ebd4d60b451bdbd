//! Configuration of the traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::config::ClosedLoopConfig;
use crate::units::{Duration, Size, TrafficRate};

/// The traffic that reaches the NIC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// Packets at equal intervals.
    Constant {
        /// Packets per second, or bits per second on the wire including preamble, FCS and
        /// inter-packet gap. A bit rate is converted to whole packets per second with the mean of
        /// `sizes`.
        rate: TrafficRate,
        /// Packet sizes; without effect where clients choose them (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// Number of flows, all equally likely.
        flows: u32,
    },
    /// Packets at exponentially distributed intervals: many independent clients.
    Poisson {
        /// Average packets per second, or bits per second on the wire including preamble, FCS and
        /// inter-packet gap. A bit rate is converted to whole packets per second with the mean of
        /// `sizes`.
        rate: TrafficRate,
        /// Packet sizes; without effect where clients choose them (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// Number of flows, all equally likely.
        flows: u32,
    },
    /// A constant rate that is switched on and off, as in the burst mode of traffic generators.
    Bursts {
        /// Packets per second while on, or bits per second on the wire including preamble, FCS and
        /// inter-packet gap. A bit rate is converted to whole packets per second with the mean of
        /// `sizes`.
        rate: TrafficRate,
        /// How long a burst lasts.
        on: Duration,
        /// How long the pause after a burst lasts.
        off: Duration,
        /// Packet sizes; without effect where clients choose them (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// Number of flows, all equally likely.
        flows: u32,
    },
    /// The packets of a capture with its sizes and flows, repeated if the run is longer.
    Replay {
        /// A pcap or pcapng file, relative to the scenario.
        file: String,
        /// Scales the times to this average rate: bits per second on the wire including preamble,
        /// FCS and inter-packet gap, or packets per second. Absent: the times as recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<TrafficRate>,
    },
    /// No rate: every core always finds unconsumed packets (Sweeper, section IV-B).
    Backlog {
        /// Minimum number of unconsumed packets in each core's queue, as far as descriptors are
        /// posted; at most `queues.rx_descriptors`. These packets are not paced by
        /// `machine.nic.link`.
        depth: u32,
        /// Packet sizes; without effect where clients choose them (`app.requests = "drawn"`).
        sizes: SizesConfig,
        /// Number of flows, all equally likely.
        flows: u32,
    },
    /// No rate of its own: machines behind a switch answer the server's reads, under a congestion
    /// control that the server's acknowledgements drive.
    ClosedLoop(Box<ClosedLoopConfig>),
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

/// Sizes of synthetic packets. A size is that of the frame as it lands in the buffer, without the 4
/// bytes of FCS: the "64-byte packet" of data sheets is 60 bytes here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizesConfig {
    /// All packets have the same size.
    Fixed {
        /// Bytes of every frame.
        size: Size,
    },
    /// Several sizes, each in proportion to its weight. The simple IMIX (64, 594 and 1518 bytes
    /// with FCS, 7:4:1) is 60, 590 and 1514 bytes with weights 7, 4 and 1.
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
