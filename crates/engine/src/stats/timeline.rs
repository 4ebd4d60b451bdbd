//! The timeline of a run: the paths of individual packets through the host, and counters alongside.
//!
//! Plain data like [`super::results`], but in the integer picoseconds of the model: the slices of a
//! packet have no gaps, and those of a stage add up to what its histogram recorded.

use serde::{Deserialize, Serialize};

/// Which packets are followed, and how often the counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineConfig {
    /// One of this many arriving packets is followed; at least 1.
    pub every: u32,
    /// How many packets are followed; recording ends with the last of them.
    pub packets: u32,
    /// Time between two readings of the counters, picoseconds; at least 1.
    pub interval_ps: u64,
}

/// Everything recorded since recording began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Packets that have completed their path, in order of arrival.
    pub packets: Vec<PacketWay>,
    /// Packets that were still on their way when the run ended; they are not in `packets`.
    pub unfinished: u64,
    /// Drops of any packets, followed or not, in time order.
    pub drops: Vec<DroppedPacket>,
    /// Drops beyond the capacity of the recording; they are not in `drops`.
    #[serde(default)]
    pub drops_left_out: u64,
    /// When the counters were read, picoseconds.
    pub times_ps: Vec<u64>,
    /// Readings beyond the capacity of the recording, until it ended; they are not in `times_ps`.
    #[serde(default)]
    pub readings_left_out: u64,
    /// The counters, each with one value per reading.
    pub counters: Vec<Counter>,
}

/// The path of one packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketWay {
    /// Number of the packet within the traffic; with closed-loop traffic, within its connection.
    pub number: u64,
    /// Its flow or connection.
    pub flow: u32,
    /// Bytes on arrival.
    pub bytes: u32,
    /// The queue that received it.
    pub queue: u16,
    /// Why it was dropped, if it was.
    pub dropped: Option<String>,
    /// What it waited for or passed through, in order; steps that took no time are left out.
    pub slices: Vec<Slice>,
}

/// A part of a packet's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The stage of the latency histograms to which it belongs.
    pub stage: String,
    /// The step within the stage.
    pub step: String,
    /// Its start, picoseconds.
    pub begin_ps: u64,
    /// Its end, picoseconds.
    pub end_ps: u64,
}

/// A packet that the NIC dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DroppedPacket {
    /// When, picoseconds.
    pub at_ps: u64,
    /// Number of the packet, as in [`PacketWay::number`].
    pub number: u64,
    /// Its flow or connection.
    pub flow: u32,
    /// Its queue.
    pub queue: u16,
    /// Why.
    pub reason: String,
}

/// A counter over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// What it counts.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// The queue that it belongs to; absent for counters of the whole host.
    pub queue: Option<u16>,
    /// One value per reading.
    pub values: Vec<f64>,
}
