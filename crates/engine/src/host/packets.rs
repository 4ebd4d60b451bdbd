//! The packets in the host, from the wire to their end, and where each of them is.

use crate::memory::line::Line;
use crate::nic::pool::Buffer;
use crate::slots::Slots;
use crate::time::Ps;

/// A packet in the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) seq: u64,
    pub(super) bytes: u32,
    pub(super) flow: u32,
    pub(super) queue: u16,
    /// Its receive buffer, from the first DMA on until it is freed or the application keeps it.
    pub(super) buffer: Option<Buffer>,
    /// Its descriptor waits for the core, and cannot be posted again yet.
    pub(super) in_ring: bool,
    /// What the NIC transmits for it: first line, and bytes.
    pub(super) tx: Option<(Line, u32)>,
    /// Whether the transmitted lines are the receive buffer itself.
    pub(super) zero_copy: bool,
    pub(super) arrived: Ps,
    pub(super) dma_start: Ps,
    pub(super) visible: Ps,
    pub(super) begun: Ps,
    /// When its transmission stage began: at the end of its request or, before that, when it was posted.
    pub(super) to_send_since: Ps,
    /// The request has ended.
    pub(super) ended: bool,
    /// Its transmission is still to come.
    pub(super) to_send: bool,
    /// It is in the NIC's SRAM.
    pub(super) in_sram: bool,
    /// Lines posted for transmission that are not sent yet.
    pub(super) unsent: u32,
}

/// All packets in the host.
pub(super) type Packets = Slots<Packet>;
