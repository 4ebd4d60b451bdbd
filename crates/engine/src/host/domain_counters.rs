//! Counters of the domains that the host itself runs, beside their credits (`credits.rs`).

use super::Event;
use crate::frame::wire_bits;
use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// Counters of the domains that the host itself runs.
#[derive(Clone, Debug, Default)]
pub(super) struct DomainCounters {
    /// The first packet waits for a descriptor fetch.
    pub(super) unread_descriptor: Starvation,
    /// Lines of DMA writes that could have credits but wait for the link to the processor.
    pub(super) waiting_for_link: Occupancy,
    /// Lines of DMA writes that hold credits and wait for their translation.
    pub(super) translating: Occupancy,
    /// What waits for the LLC.
    pub(super) held_back: HeldBack,
    /// Lines of DMA reads that hold credits and wait for their translation, and those that wait for
    /// their data.
    pub(super) translating_reads: Occupancy,
    pub(super) reading: Occupancy,
    /// Lines of DMA reads whose data is at the NIC but not yet on the wire.
    pub(super) sending: Occupancy,
    /// Bits received and bits sent over the network link, including all overheads.
    pub(super) link_bits: u64,
    pub(super) sent_bits: u64,
}

impl DomainCounters {
    /// Starts the measured time. (Every field is named, so that none can be forgotten.)
    pub(super) fn reset(&mut self, now: Ps) {
        let DomainCounters {
            unread_descriptor,
            waiting_for_link,
            translating,
            held_back,
            translating_reads,
            reading,
            sending,
            link_bits,
            sent_bits,
        } = self;
        for lines in [waiting_for_link, translating, translating_reads, reading, sending] {
            lines.reset(now);
        }
        unread_descriptor.reset(now);
        held_back.reset(now);
        (*link_bits, *sent_bits) = (0, 0);
    }

    /// A frame has arrived over the network link.
    #[inline]
    pub(super) fn frame(&mut self, bytes: u32) {
        self.link_bits += wire_bits(bytes);
    }
}

/// What is held back because all home trackers are in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldBack {
    /// Lines of DMA writes and of DMA reads, which keep their credits.
    pub(super) writes: Occupancy,
    pub(super) reads: Occupancy,
    /// Requests of cores.
    pub(super) cores: Occupancy,
    /// Time in which anything is held back.
    pub(super) time: Starvation,
}

impl HeldBack {
    /// An event is held back that holds credits for this many lines of DMA reads.
    pub(super) fn enter(&mut self, now: Ps, event: &Event, reads: u64) {
        self.writes.enter(now, event.write_credits().0);
        self.reads.enter(now, reads);
        self.cores.enter(now, is_of_core(event).into());
        self.time.begin(now);
    }

    /// The event goes on; nothing is held back any more if it was the `last`.
    pub(super) fn leave(&mut self, now: Ps, event: &Event, reads: u64, last: bool) {
        self.writes.leave(now, event.write_credits().0);
        self.reads.leave(now, reads);
        self.cores.leave(now, is_of_core(event).into());
        if last {
            self.time.end(now);
        }
    }

    /// Starts the measured time.
    pub(super) fn reset(&mut self, now: Ps) {
        let HeldBack { writes, reads, cores, time } = self;
        for held in [writes, reads, cores] {
            held.reset(now);
        }
        time.reset(now);
    }
}

fn is_of_core(event: &Event) -> bool {
    matches!(event, Event::Request { .. })
}
