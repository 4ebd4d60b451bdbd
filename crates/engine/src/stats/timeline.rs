//! The timeline of a run: the ways of single packets through the host, and counters beside them.
//!
//! Plain data like [`super::results`], but with the integer picoseconds of the model: the slices of a
//! packet have no gaps, and those of a stage add up to what its histogram has recorded.

use serde::{Deserialize, Serialize};

/// Which packets are followed, and how often the counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineConfig {
    /// Every so many packets that arrive one is followed; at least 1.
    pub every: u32,
    /// So many packets are followed; recording ends with the last of them.
    pub packets: u32,
    /// Time between two readings of the counters, picoseconds; at least 1.
    pub interval_ps: u64,
}

/// What was recorded from the begin of recording on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Packets that have gone their whole way, in the order of their arrival.
    pub packets: Vec<PacketWay>,
    /// Packets that were still on their way when the run ended: they are not in `packets`.
    pub unfinished: u64,
    /// Drops of any packets, followed or not, in the order of time.
    pub drops: Vec<DroppedPacket>,
    /// Drops beyond as many as a recording holds: they are not in `drops`.
    #[serde(default)]
    pub drops_left_out: u64,
    /// When the counters were read, picoseconds.
    pub times_ps: Vec<u64>,
    /// Readings beyond as many as a recording holds, until its end: they are not in `times_ps`.
    #[serde(default)]
    pub readings_left_out: u64,
    /// The counters, each with a value for every reading.
    pub counters: Vec<Counter>,
}

/// The way of one packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketWay {
    /// Number of the packet: of the traffic, or of its connection with closed-loop traffic.
    pub number: u64,
    /// Its flow or connection.
    pub flow: u32,
    /// Bytes on arrival.
    pub bytes: u32,
    /// The queue it came to.
    pub queue: u16,
    /// Why it was dropped, if it was.
    pub dropped: Option<String>,
    /// What it waited for or went through, one after the other; what took no time is not there.
    pub slices: Vec<Slice>,
}

/// A part of a packet's way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The stage of the latency histograms that it is a part of.
    pub stage: String,
    /// The part.
    pub step: String,
    /// Its begin, picoseconds.
    pub begin_ps: u64,
    /// Its end, picoseconds.
    pub end_ps: u64,
}

/// A packet that the NIC has dropped.
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
    /// The queue that it belongs to; absent for those of the whole host.
    pub queue: Option<u16>,
    /// One value a reading.
    pub values: Vec<f64>,
}
