//! A packet in the network, and the events that affect it.

use super::telemetry::Telemetry;
use crate::time::Ps;

/// An event outside the server that affects a datagram, a connection or a batch of connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A datagram reaches the switch.
    Switch,
    /// A datagram reaches the server's NIC.
    Delivered,
    /// The acknowledgement of a datagram reaches its sender.
    Ack,
    /// The server asks a batch of connections for a read each.
    Ask,
    /// A request of its own reaches the sender of a connection.
    Asked,
    /// A connection continues: its first read has arrived, or its pacing allows it.
    Wake,
    /// A connection checks its timeout.
    Timeout,
    /// The timer of a connection's congestion control.
    Timer,
}

impl Step {
    /// Whether this step applies to a datagram.
    pub(crate) fn carries(self) -> bool {
        matches!(self, Step::Switch | Step::Delivered | Step::Ack)
    }
}

/// A data packet on its way, and then its acknowledgement. It exists from when a connection sends
/// it until the acknowledgement is back at the sender, or until it is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub(crate) connection: u32,
    /// Its position in the connection's data, in packets.
    pub(crate) number: u64,
    /// Its position among the transmissions of the connection.
    pub(super) order: u64,
    pub(super) sent: Ps,
    pub(super) marked: bool,
    pub(super) telemetry: Telemetry,
    /// Carried by the acknowledgement: the delay in the server, and the packets requested so far if this one
    /// completes a read.
    pub(super) endpoint: Ps,
    pub(super) asked: u64,
}

impl Datagram {
    /// What a connection sends at `now`.
    pub(super) fn new(connection: u32, number: u64, order: u64, now: Ps) -> Datagram {
        Datagram {
            connection,
            number,
            order,
            sent: now,
            marked: false,
            telemetry: Telemetry::default(),
            endpoint: Ps::ZERO,
            asked: 0,
        }
    }
}
