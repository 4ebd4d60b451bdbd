//! A pair of receive and transmit queues, and what concerns both.

mod receive;
mod transmit;

use std::ops::Range;

use receive::ReceiveQueue;
use transmit::TransmitQueue;

use super::buffers::{Region, TransmitBuffers};
use super::config::{Nic, Queues};
use super::pool::Buffer;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::Line;
use crate::memory::placement::Reader;
use crate::rng::Rng;
use crate::stats::results::QueueResults;
use crate::time::Ps;
use crate::units::Size;

/// A queue pair and its core's view of it.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair {
    pub(crate) core: u16,
    pub(crate) rx: ReceiveQueue,
    pub(crate) tx: TransmitQueue,
}

impl QueuePair {
    /// The queue pair of a core that, besides what it forwards, transmits up to `tx_bytes` per packet.
    pub(crate) fn new(
        core: u16,
        config: &Queues,
        tx_bytes: Size,
        nic: &Nic,
        place: (Region, u32),
        space: &mut AddressSpace,
        stream: &mut Rng,
    ) -> QueuePair {
        // This order decides where each of them lies.
        let tx_buffers = TransmitBuffers::new(config, tx_bytes, space, stream);
        let rx = ReceiveQueue::new(config, nic, place, space, stream);
        let tx = TransmitQueue::new(config, nic, tx_buffers, space);
        QueuePair { core, rx, tx }
    }

    /// Who reads what the NIC writes for this pair.
    pub(crate) fn reader(&self) -> Reader {
        Reader { core: self.core, waiting: self.rx.waiting() }
    }

    /// The driver reclaims the descriptors of all packets reported as sent, and the receive buffers
    /// that they were sent from. Returns how many completions reported them.
    pub(crate) fn reap(&mut self, now: Ps) -> u32 {
        self.tx.reap(now, &mut self.rx.pool)
    }

    /// Data lines of the packets that [`Self::reap`] is about to reclaim.
    pub(crate) fn reaped_data(&self) -> impl Iterator<Item = Range<Line>> + '_ {
        self.tx.reaped_data(&self.rx.layout)
    }

    /// Buffers that are not with a packet: those below, and those kept by the application.
    pub(crate) fn idle_buffers(&self) -> u64 {
        self.consumed_buffers().count() as u64 + u64::from(self.rx.kept())
    }

    /// Buffers whose data nobody needs any more: in the pool, behind posted descriptors, or sent but not reclaimed.
    fn consumed_buffers(&self) -> impl Iterator<Item = Buffer> {
        let waiting = self.rx.pool.free().chain(self.rx.posted_buffers());
        waiting.chain(self.tx.receive_buffers_held())
    }

    /// The lines for data of these buffers.
    pub(crate) fn consumed_data(&self) -> impl Iterator<Item = Range<Line>> {
        self.consumed_buffers().map(|buffer| self.rx.layout.data_lines(buffer))
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.rx.counts.reset(now);
        self.tx.counts.reset(now);
    }

    /// The counts so far, with how long its core has been busy.
    pub(crate) fn results(&self, now: Ps, core_busy: Ps) -> QueueResults {
        let (rx, tx) = (&self.rx.counts, &self.tx.counts);
        QueueResults {
            core: self.core.into(),
            core_busy_ps: Some(core_busy.0),
            offered: rx.offered,
            received: rx.used.uses,
            dropped: Some(rx.dropped),
            rx_busy_ps: rx.used.time(now),
            rx_waited_ps: rx.waiting.time(now),
            rx_unfetched_ps: rx.unfetched.time(now),
            rx_fetches: rx.fetches.count,
            rx_fetching_ps: rx.fetches.time.0,
            sent: tx.used.uses,
            tx_busy_ps: tx.used.time(now),
            tx_starved_ps: tx.starved.time(now).0,
            tx_unread_ps: tx.unread.time(now),
            tx_fetches: tx.fetches.count,
            tx_fetching_ps: tx.fetches.time.0,
            tx_fetching_link_ps: tx.fetching_on_link.0,
            tx_turn_ps: tx.turn.time(now),
        }
    }
}
