//! Packets between the wire and their end, and where each is.

use crate::memory::line::Line;
use crate::nic::pool::Buffer;
use crate::time::Ps;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) seq: u64,
    pub(super) bytes: u32,
    pub(super) flow: u32,
    pub(super) queue: u16,
    /// The receive buffer it lies in, from the first DMA on.
    pub(super) buffer: Option<Buffer>,
    /// Its descriptor waits for the core: it cannot be posted again yet.
    pub(super) in_ring: bool,
    /// What the NIC transmits for it: first line, and bytes.
    pub(super) tx: Option<(Line, u32)>,
    /// Whether the transmitted lines are the receive buffer itself.
    pub(super) zero_copy: bool,
    pub(super) arrived: Ps,
    pub(super) dma_start: Ps,
    pub(super) visible: Ps,
    pub(super) begun: Ps,
    pub(super) posted: Ps,
    /// The request has ended.
    pub(super) ended: bool,
    /// Its transmission is still to come.
    pub(super) to_send: bool,
    /// It is in the NIC's SRAM.
    pub(super) in_sram: bool,
    /// It is posted for transmission and not sent yet.
    pub(super) sending: bool,
}

/// All packets on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    pub(super) fn add(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = packet;
                slot
            }
            None => {
                self.slots.push(packet);
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub(super) fn remove(&mut self, handle: u32) {
        self.free.push(handle);
    }

    #[inline]
    pub(super) fn at(&mut self, handle: u32) -> &mut Packet {
        &mut self.slots[handle as usize]
    }

    #[inline]
    pub(super) fn get(&self, handle: u32) -> &Packet {
        &self.slots[handle as usize]
    }

    /// The packets on their way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut free = self.free.clone();
        free.sort_unstable();
        self.slots
            .iter()
            .enumerate()
            .filter(move |(i, _)| free.binary_search(&(*i as u32)).is_err())
            .map(|(_, p)| p)
    }
}
