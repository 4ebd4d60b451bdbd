//! What the queues on the way tell of themselves in the packets that leave them (in-band network telemetry).

use crate::time::Ps;

/// What a queue tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hop {
    /// When.
    pub(crate) at: Ps,
    /// All that has left it since the run began, bits on the wire.
    pub(crate) sent_bits: u64,
    /// What is in it, bits.
    pub(crate) queue_bits: u64,
}

/// What an acknowledgement carries: of the switch's port, from when the packet left it, and of the SRAM of the server's
/// NIC, from when the acknowledgement left that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Telemetry {
    pub(crate) switch: Hop,
    pub(crate) nic: Hop,
}
