//! Configuration of closed-loop traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control::ControlConfig;
use crate::units::{BitRate, Duration, Size};

/// Threads of the server read from machines behind a switch, whose answers obey a congestion
/// control. Every thread has one connection with every sender. A thread is a core with a queue, and
/// flow steering delivers a connection's packets to its thread's queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoopConfig {
    /// Number of sending machines.
    pub senders: u32,
    /// Bytes of a read; required unless there is `read_mix`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Size>,
    /// Sizes of reads, if there are several: each is drawn in proportion to its weight, and `read` has no effect. Needs a stack
    /// that copies packets when they arrive (`tenants.N.app.copied`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_mix: Option<Vec<ReadShare>>,
    /// Reads that a thread keeps open on each connection; with `load`, at most.
    #[serde(default = "ClosedLoopConfig::one")]
    pub open_reads: u32,
    /// Payload that all threads together want from each sender in a second: independent users want reads at
    /// exponentially distributed intervals, whether those before are complete or not. Those for which no open read is
    /// left wait, which is part of their latency. At most what the sender's link carries. Absent: the next is wanted when
    /// one is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<BitRate>,
    /// Mean time from the completion of a read, or of a striped block, to the request for the next; it is
    /// exponentially distributed.
    #[serde(default)]
    pub think: Duration,
    /// Whether a thread reads blocks that are striped over the senders (over rivals and others apart): it asks
    /// all of them at once for a read, and for the next only when all have answered (incast).
    #[serde(default)]
    pub striped: bool,
    /// Payload of a packet; a read is a whole number of packets.
    pub payload: Size,
    /// Bytes of headers before the payload; they land in the buffer as well.
    pub headers: Size,
    /// Frame size of an acknowledgement, including any request for the next read.
    pub acknowledgement: Size,
    /// The network between senders and server.
    pub network: NetworkConfig,
    /// When a packet is retransmitted.
    #[serde(default)]
    pub recovery: RecoveryConfig,
    /// The congestion control.
    pub control: ControlConfig,
    /// Senders that differ from the others, in their congestion control, in what is read from them and when, or in
    /// their way to the server: which gets what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<Box<RivalsConfig>>,
    /// Of how many senders the time series shows the congestion window individually, that of their connection to the
    /// first queue: of all if there are fewer; with rivals, of as many of them, too.
    #[serde(default)]
    pub watched: u32,
}

/// One size of a mix of reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadShare {
    /// Bytes of the read.
    pub size: Size,
    /// Share of the reads, relative to the sum of all weights.
    pub weight: u32,
}

/// The network between senders and server: a port of a switch whose rate is that of the server's link
/// (`machine.nic.link`).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// One-way delay from host to host without queueing: cables and switches.
    pub delay: Duration,
    /// Rate of a sender's link.
    pub sender_link: BitRate,
    /// Buffer of the switch port in front of the server; a packet that does not fit is dropped.
    pub buffer: Size,
    /// A packet that finds more than this in the buffer is marked (ECN). Absent: no packet is marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_threshold: Option<Size>,
}

/// When a packet is retransmitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryConfig {
    /// How many packets sent later must be acknowledged before a packet is considered lost (RFC
    /// 6675's DupThresh: 3).
    pub reordering: u32,
    /// Minimum retransmission timeout; above it, RFC 6298's estimate applies, doubled with every
    /// consecutive timeout. Not in the papers; 1 ms is usual in data centres, where RFC 6298's one
    /// second is far too long.
    pub min_timeout: Duration,
}

impl Default for RecoveryConfig {
    fn default() -> RecoveryConfig {
        RecoveryConfig { reordering: 3, min_timeout: Duration(1_000_000_000) }
    }
}

/// Senders that differ from the others. What is absent is as for those.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RivalsConfig {
    /// How many of the senders: the last ones.
    pub senders: u32,
    /// Bytes of a read from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Size>,
    /// Sizes of reads from them, if there are several. With `read`, they have only that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_mix: Option<Vec<ReadShare>>,
    /// Reads that a thread keeps open on each connection with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_reads: Option<u32>,
    /// Payload that is wanted from each of them in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<BitRate>,
    /// Mean time before the next read from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Duration>,
    /// Whether blocks are striped over them. They never share a block with the other senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub striped: Option<bool>,
    /// When they begin to be read from, counted from the beginning of the run, of which the warm-up is a part. Absent:
    /// at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// When no more reads are asked for, counted in the same way; those that are open are completed. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// One-way delay from them to the server without queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Rate of the link of each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_link: Option<BitRate>,
    /// Their congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlConfig>,
}

impl ClosedLoopConfig {
    const fn one() -> u32 {
        1
    }

    /// Bytes of a data frame.
    pub(crate) fn frame(&self) -> Size {
        Size(self.headers.0.saturating_add(self.payload.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Forty senders, with one key set that a pointer names.
    pub(in crate::transport) fn config(key: &str, value: Value) -> ClosedLoopConfig {
        let mut config = json!({
            "senders": 40, "read": "16 KiB", "payload": "4 KiB", "headers": "332 B",
            "acknowledgement": "64 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "4 MiB" },
            "control": { "kind": "swift" }
        });
        let (parent, key) = key.rsplit_once('/').expect("a pointer");
        config.pointer_mut(parent).expect("a parent")[key] = value;
        serde_json::from_value(config).expect("a configuration")
    }
}
