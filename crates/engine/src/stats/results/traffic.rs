//! The packets that arrived, and what closed-loop senders did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Packets by outcome, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// Arrived on the wire.
    pub offered: u64,
    /// Dropped because the NIC's input SRAM was full.
    pub dropped_sram: u64,
    /// Dropped because the queue had no posted descriptor.
    pub dropped_no_descriptor: u64,
    /// Requests completed by the cores.
    pub completed: u64,
    /// Requests completed before measuring began: during the warm-up, in the probes of a peak search that this one
    /// goes on from, and while it settled.
    pub completed_before: u64,
    /// Packets sent by the NIC.
    pub transmitted: u64,
    /// Packets between wire and completion when measuring began.
    pub in_flight_begin: u64,
    /// The same when measuring ended.
    pub in_flight_end: u64,
    /// Packets that wait to be sent when measuring began, in transmit rings or in the software's queues
    /// (`queues.tx_backlog`): packets that cores have posted or are done with, and that the NIC has not
    /// sent. 0 in results of older versions.
    #[serde(default)]
    pub unsent_begin: u64,
    /// The same when measuring ended.
    #[serde(default)]
    pub unsent_end: u64,
    /// Offered rate, million packets per second.
    pub offered_mpps: f64,
    /// Completed rate, million packets per second.
    pub completed_mpps: f64,
    /// Bytes of completed packets, as received, Gbit/s.
    pub completed_gbps: f64,
    /// Bytes of offered packets, as received, Gbit/s.
    pub offered_gbps: f64,
    /// Dropped share of the offered packets, 0 to 1. Of packets that had waited before the measured time, more can be
    /// dropped in it than are offered: it is then the share of the dropped and completed ones.
    pub drop_share: f64,
    /// Dropped share of the offered bytes, likewise: more than that of the packets if it is the large
    /// packets that find no room.
    pub dropped_bytes_share: f64,
    /// When the next packet arrives, from the start of the run, ns; absent if any was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_arrival_ns: Option<f64>,
    /// Mean time that packets wait for the link into the NIC, which carries one frame at a time, ns.
    /// They wait at their senders, so no latency includes it; above the link's rate it grows with
    /// the length of the run. Absent without a link, without traffic whose arrivals follow a time
    /// law, or if nothing was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_wait_ns: Option<f64>,
    /// Mean time that the completion of a packet waits for others of its queue to be written with, ns; part of the
    /// latency's `dma`. Absent if completions are written one at a time (`machine.nic.completions_per_write`), and if
    /// none began to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gathering_ns: Option<f64>,
}

/// The contents of a capture, as parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureFacts {
    /// Packets in one round.
    pub packets: u64,
    /// Flows that they belong to.
    pub flows: u64,
    /// Bytes of all frames, without FCS.
    pub bytes: u64,
    /// Time from the first packet to the last, ps.
    pub span_ps: u64,
    /// IPv6 packets: RSS hashes their addresses; applications handle them like IPv4 packets.
    pub ipv6_packets: u64,
    /// Packets that follow a later one in the file; all are replayed in order of time.
    #[serde(default)]
    pub reordered: u64,
    /// Packets with VLAN tags; their flow is taken from the headers after the tags.
    #[serde(default)]
    pub vlan_packets: u64,
    /// Packets with the time stamp of the one before them.
    #[serde(default)]
    pub same_time: u64,
    /// Packets in the fullest of a hundred equal parts of that time; absent from results of older versions.
    #[serde(default)]
    pub fullest_hundredth: Option<u64>,
    /// The longest time without a packet; absent if there is only one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_gap: Option<CaptureGap>,
}

/// A time without a packet in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureGap {
    /// Its length, ps.
    pub ps: u64,
    /// The packet that ends it, numbered from 1 in order of time.
    pub before_packet: u64,
}

/// Closed-loop senders, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportResults {
    /// Payload that reached its application, each byte counted once, Gbit/s.
    pub goodput_gbps: f64,
    /// Payload of the reads that were wanted, Gbit/s; absent unless a load is wanted of all senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_gbps: Option<f64>,
    /// Data packets sent, including those sent again.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// Acknowledgements that the senders received.
    pub acknowledged: u64,
    /// Data packets dropped because the switch's buffer was full.
    pub dropped_switch: u64,
    /// Data packets dropped by the server's NIC.
    pub dropped_server: u64,
    /// Share of the data packets sent that the switch or the server dropped, 0 to 1. Of those sent before the measured
    /// time, more can be dropped in it than are sent: it is then the share of the dropped and acknowledged ones.
    pub lost_share: f64,
    /// Data packets that the switch marked (ECN).
    pub marked: u64,
    /// Data packets marked by the server's NIC but not by the switch.
    pub marked_server: u64,
    /// Whether the congestion control reacts to marks; absent from results of older versions.
    #[serde(default)]
    pub hears_marks: Option<bool>,
    /// Data packets detected as lost because later ones were acknowledged.
    pub fast_recoveries: u64,
    /// Retransmission timeouts of connections.
    pub timeouts: u64,
    /// Data packets taken for lost whose acknowledgement arrived before they were sent again.
    pub not_lost: u64,
    /// Data packets that reached their application for the first time.
    pub delivered: u64,
    /// Data packets that had already reached their application before.
    pub duplicates: u64,
    /// Reads completed.
    pub reads: u64,
    /// Mean congestion window of the connections over the measured time, packets.
    pub mean_window: f64,
    /// Packets by which congestion windows were cut in all because of the delay in the server, where the
    /// control keeps that apart; absent if none does. What a cut takes is what all increases give, over time.
    #[serde(default)]
    pub cut_by_host: Option<f64>,
    /// Packets by which windows were cut because of other acknowledgements: the delay of the path, or marks.
    #[serde(default)]
    pub cut_by_path: f64,
    /// Packets by which windows were cut because packets were considered lost.
    #[serde(default)]
    pub cut_by_losses: f64,
    /// Jain's index over the packets delivered by each connection: 1 if all are equal, one over
    /// their number if one has all; absent if nothing was delivered, and with `traffic.load`, where each
    /// has what is wanted of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Round trip: from sending a packet to the arrival of its acknowledgement.
    pub rtt: Distribution,
    /// The part of the round trip outside the server, as the senders compute it.
    pub fabric_delay: Distribution,
    /// The part of the round trip inside the server: from arrival at the NIC to the hand-over of the
    /// acknowledgement, or until the packet is processed if no transmit descriptor is free for that.
    pub host_delay: Distribution,
    /// From the issue of a read until it and all reads before it are complete.
    pub read_latency: Distribution,
    /// The same by size of the read and group of senders; empty if each group has one size and no `traffic.load`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<SizeResults>,
    /// From the request for a striped block until all of it has arrived; absent if reads are independent, or if
    /// there are blocks of rivals and of others (`by_group`).
    #[serde(default)]
    pub block_latency: Option<Distribution>,
    /// What rivals got, and before them what the other senders got; empty without rivals.
    #[serde(default)]
    pub by_group: Vec<SendersResults>,
    /// One entry per connection, by queue and then by sender.
    pub connections: Vec<ConnectionResults>,
}

/// Senders that are like one another, where there are rivals, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SendersResults {
    /// The key of their control in the scenario.
    pub control: String,
    /// The first of them.
    pub first: u32,
    /// How many they are.
    pub count: u32,
    /// Payload from them that reached its application, each byte counted once, Gbit/s.
    pub goodput_gbps: f64,
    /// Payload of the reads from them that were wanted, Gbit/s; absent without a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_gbps: Option<f64>,
    /// Data packets sent, including those sent again.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// Retransmission timeouts of their connections.
    pub timeouts: u64,
    /// Whether their control reacts to marks.
    pub hears_marks: bool,
    /// Mean congestion window of their connections over the measured time, packets.
    pub mean_window: f64,
    /// Packets by which congestion windows were cut in all because of the delay in the server; absent if the
    /// control does not keep it apart. What a cut takes is what all increases give, over time.
    #[serde(default)]
    pub cut_by_host: Option<f64>,
    /// Packets by which windows were cut because of other acknowledgements: the delay of the path, or marks.
    #[serde(default)]
    pub cut_by_path: f64,
    /// Packets by which windows were cut because packets were considered lost.
    #[serde(default)]
    pub cut_by_losses: f64,
    /// Jain's fairness index over what their connections delivered; absent if that is nothing, and with a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// From the issue of a read from them until it and all reads before it on its connection are complete.
    pub read_latency: Distribution,
    /// From the request for a block that is striped over them until all of it has arrived; absent if reads are
    /// independent.
    #[serde(default)]
    pub block_latency: Option<Distribution>,
}

/// Reads of one size from senders that are like one another, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeResults {
    /// The group of senders: 1 for rivals, 0 for the others.
    pub group: u32,
    /// Bytes of such a read.
    pub bytes: u64,
    /// What such a read takes in a network without anything else, and a server that takes no time, ns: the request's way,
    /// and the frames' on both links. A latency over it is the read's slowdown.
    pub alone_ns: f64,
    /// From when such a read was wanted until it and all reads before it on its connection were complete.
    pub latency: Distribution,
}

/// A connection of closed-loop traffic, within the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionResults {
    /// The server's queue, from 0.
    pub queue: u32,
    /// The sending machine, from 0.
    pub sender: u32,
    /// Data packets sent, including those sent again.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that reached their application for the first time.
    pub delivered: u64,
    /// Mean congestion window, packets.
    pub mean_window: f64,
    /// Packets by which congestion windows were cut in all because of the delay in the server; absent if the
    /// control does not keep it apart. What a cut takes is what all increases give, over time.
    #[serde(default)]
    pub cut_by_host: Option<f64>,
    /// Packets by which windows were cut because of other acknowledgements: the delay of the path, or marks.
    #[serde(default)]
    pub cut_by_path: f64,
    /// Packets by which windows were cut because packets were considered lost.
    #[serde(default)]
    pub cut_by_losses: f64,
    /// Mean round trip over the acknowledgements received, ns; absent if none was.
    pub mean_rtt_ns: Option<f64>,
}
