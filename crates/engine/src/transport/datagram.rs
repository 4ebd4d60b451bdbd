//! A packet in the network, and what happens to it.

use crate::time::Ps;

/// Something that happens outside of the server, to a datagram or to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A datagram is at the switch.
    Switch,
    /// A datagram is at the server's NIC.
    Delivered,
    /// The acknowledgement of a datagram is at its sender.
    Ack,
    /// A connection goes on: its first read has arrived, or its pacing lets it.
    Wake,
    /// A connection looks at its timeout.
    Timeout,
}

impl Step {
    /// Whether it happens to a datagram.
    pub(crate) fn carries(self) -> bool {
        matches!(self, Step::Switch | Step::Delivered | Step::Ack)
    }
}

/// A data packet on its way, and then its acknowledgement: it begins when a connection sends, and ends
/// when the acknowledgement is back at the sender, or where it is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub(crate) connection: u32,
    /// Its place in what the connection carries, in packets.
    pub(crate) number: u64,
    /// Its place among the transmissions of the connection.
    pub(super) order: u64,
    pub(super) sent: Ps,
    pub(super) marked: bool,
    /// Of the acknowledgement: the delay in the server, and the packets asked for so far.
    pub(super) endpoint: Ps,
    pub(super) asked: u64,
}
