//! The transmit half of a queue pair: its descriptors, and its packets from the driver to the wire and
//! back to the driver as a completion.
//!
//! The driver takes a descriptor, or lets the packet wait for one (`backlog`). When its stores are done,
//! the packet is posted (`unrung`, then `rung` while the doorbell is on its way), and the NIC knows of it.
//! The NIC reads the descriptor (`ready`), the data, and reports the packet as `sent`, in batches
//! (`reporting`, then `completed`). The driver then reclaims the descriptor.

use std::collections::VecDeque;
use std::collections::vec_deque::{Drain, Iter};
use std::ops::Range;

use crate::memory::address_space::AddressSpace;
use crate::memory::line::Line;
use crate::nic::buffers::{Layout, TransmitBuffers};
use crate::nic::config::{Nic, Queues};
use crate::nic::counts::TransmitCounts;
use crate::nic::pool::{Buffer, Pool};
use crate::nic::ring::{Position, Ring};
use crate::time::Ps;

/// A transmit queue.
#[derive(Clone, Debug)]
pub(crate) struct TransmitQueue {
    /// Written by the driver, read by the NIC.
    pub(crate) descriptors: Ring,
    /// Up to where the IOMMU has looked up addresses of descriptors, ahead of the reads.
    pub(crate) descriptors_translated: Position,
    /// Written by the NIC, read by the driver.
    pub(crate) completions: Ring,
    pub(crate) buffers: TransmitBuffers,
    size: u32,
    /// Descriptors in use, from when the driver takes one until it reclaims it.
    in_use: u32,
    /// Packets that wait in software for a descriptor, in order.
    backlog: VecDeque<u32>,
    max_backlog: u32,
    /// Posted packets whose descriptor the NIC has not read yet, in order.
    posted: VecDeque<u32>,
    /// How many of these, from the back, have not been rung for, and how many before those have a
    /// doorbell that has not reached the NIC yet. Together at most all.
    unrung: u32,
    rung: u32,
    /// Packets whose descriptor the NIC has read but whose data it has not requested, in order.
    ready: VecDeque<u32>,
    /// Packets whose descriptor the NIC is reading or has read, but whose data is not at the NIC yet.
    fetched: u32,
    /// Reads of packet data that is not on the wire yet, in order; used with a PCIe link or a wire.
    pub(crate) leaving: VecDeque<u32>,
    /// Packets sent whose descriptor the driver has not reclaimed yet, each with the receive buffer
    /// that it was sent from, if any.
    sent: VecDeque<Option<Buffer>>,
    /// How many of these, from the front, are reported by completions in memory, and how many after
    /// those by completions on their way. Together at most all.
    completed: u32,
    reporting: u32,
    completion_batch: u32,
    pub(crate) counts: TransmitCounts,
}

impl TransmitQueue {
    pub(super) fn new(
        config: &Queues,
        nic: &Nic,
        buffers: TransmitBuffers,
        space: &mut AddressSpace,
    ) -> TransmitQueue {
        let (size, completion_batch) = (config.tx_descriptors, config.tx_completion_batch);
        let descriptors = Ring::new(space, size, nic.descriptor_size.0 as u32);
        let reports = size.div_ceil(completion_batch);
        let completions = Ring::new(space, reports, nic.completion_size.0 as u32);
        TransmitQueue {
            descriptors_translated: descriptors.nic,
            descriptors,
            completions,
            buffers,
            size,
            in_use: 0,
            backlog: VecDeque::with_capacity(config.tx_backlog as usize),
            max_backlog: config.tx_backlog,
            posted: VecDeque::new(),
            unrung: 0,
            rung: 0,
            ready: VecDeque::new(),
            fetched: 0,
            leaving: VecDeque::new(),
            sent: VecDeque::new(),
            completed: 0,
            reporting: 0,
            completion_batch,
            counts: TransmitCounts::default(),
        }
    }

    /// How many descriptors are free.
    pub(crate) fn room(&self) -> u32 {
        self.size - self.in_use
    }

    /// How many packets the core can take with room guaranteed for their replies.
    pub(crate) fn reply_room(&self) -> u32 {
        self.room() + self.max_backlog - self.backlog.len() as u32
    }

    /// Records whether the core takes no packets because there is no room for their replies.
    pub(crate) fn starves(&mut self, now: Ps, starves: bool) {
        let starved = &mut self.counts.starved;
        if starves { starved.begin(now) } else { starved.end(now) }
    }

    /// The driver takes the next descriptor; returns its line.
    pub(crate) fn take_descriptor(&mut self, now: Ps) -> Line {
        debug_assert!(self.room() > 0);
        self.counts.used.enter(now, 1);
        self.in_use += 1;
        self.descriptors.driver.advance()
    }

    /// A packet waits in software for a descriptor.
    pub(crate) fn wait(&mut self, packet: u32) {
        self.backlog.push_back(packet);
    }

    /// The next packet that waits for a descriptor, if one is free.
    pub(crate) fn next_waiting(&mut self) -> Option<u32> {
        if self.room() > 0 { self.backlog.pop_front() } else { None }
    }

    /// Packets that wait in software for a descriptor.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// The descriptor of a packet has been written.
    pub(crate) fn post(&mut self, packet: u32) {
        self.posted.push_back(packet);
        self.unrung += 1;
    }

    /// A doorbell for the next `n` posted packets leaves the core.
    pub(crate) fn ring(&mut self, n: u32) {
        self.unrung -= n;
        self.rung += n;
    }

    /// The next doorbell, for `n` packets, reaches the NIC. Returns these packets.
    pub(crate) fn doorbell(&mut self, now: Ps, n: u32) -> Iter<'_, u32> {
        self.rung -= n;
        self.counts.unread.enter(now, n.into());
        let known = self.known() as usize;
        self.posted.range(known - n as usize..known)
    }

    /// Doorbells on their way to the NIC, in packets.
    pub(crate) fn rung(&self) -> u32 {
        self.rung
    }

    /// Posted packets that the NIC knows of: their doorbell has reached it.
    fn known(&self) -> u32 {
        self.posted.len() as u32 - self.unrung - self.rung
    }

    /// The NIC takes on all packets that it knows of, to read each one's descriptor with its data.
    pub(crate) fn take_known(&mut self) -> Drain<'_, u32> {
        let known = self.known() as usize;
        self.posted.drain(..known)
    }

    /// The NIC fetches up to a batch of descriptors, if it has the data of all packets whose
    /// descriptors it has read. Returns how many, if it has any to fetch now.
    pub(crate) fn begin_fetch(&mut self, now: Ps, batch: u32) -> Option<u32> {
        if self.fetched > 0 {
            return None;
        }
        self.fetched = batch.min(self.known());
        if self.fetched == 0 {
            return None;
        }
        self.counts.turn.enter(now, 1);
        Some(self.fetched)
    }

    /// The fetched descriptors are at the NIC: their packets are ready.
    pub(crate) fn end_fetch(&mut self, took: Ps, on_link: Ps) {
        debug_assert!(self.ready.is_empty());
        self.ready.extend(self.posted.drain(..self.fetched as usize));
        self.counts.fetches.ended(took);
        self.counts.fetching_on_link += on_link;
    }

    /// Packets whose descriptor the NIC has read but whose data it has not requested, in order.
    pub(crate) fn ready(&self) -> &VecDeque<u32> {
        &self.ready
    }

    /// The NIC has requested all data of a packet.
    pub(crate) fn requested(&mut self, now: Ps) {
        self.counts.unread.leave(now, 1);
    }

    /// The same for the first packet that is ready. Returns whether there are more.
    pub(crate) fn end_turn(&mut self) -> bool {
        self.ready.pop_front();
        !self.ready.is_empty()
    }

    /// All data of a packet whose descriptor was fetched is at the NIC.
    pub(crate) fn data_at_nic(&mut self, now: Ps) {
        self.fetched -= 1;
        if self.fetched == 0 {
            self.counts.turn.leave(now, 1);
        }
    }

    /// The NIC has read a packet, which was sent from a receive buffer or not. If this fills a
    /// batch, returns the line of the completion that the NIC writes.
    pub(crate) fn packet_sent(&mut self, from: Option<Buffer>) -> Option<Line> {
        self.sent.push_back(from);
        let unreported = self.sent.len() as u32 - self.completed - self.reporting;
        (unreported == self.completion_batch).then(|| {
            self.reporting += unreported;
            self.completions.nic.advance()
        })
    }

    /// Packets sent whose completion is on its way.
    pub(crate) fn reporting(&self) -> u32 {
        self.reporting
    }

    /// The next completion is in memory.
    pub(crate) fn sent_reported(&mut self) {
        self.reporting -= self.completion_batch;
        self.completed += self.completion_batch;
    }

    /// The driver reclaims the descriptors of all packets reported as sent; the receive buffers that
    /// they were sent from go back to `pool`. Returns how many completions reported them.
    pub(super) fn reap(&mut self, now: Ps, pool: &mut Pool) -> u32 {
        let n = std::mem::take(&mut self.completed);
        let mut copies = 0;
        for from in self.sent.drain(..n as usize) {
            match from {
                Some(buffer) => pool.put(buffer),
                None => copies += 1,
            }
        }
        self.buffers.reclaim(copies);
        self.in_use -= n;
        self.counts.used.leave(now, n.into());
        n / self.completion_batch
    }

    /// Data lines of the packets that [`Self::reap`] is about to reclaim.
    pub(super) fn reaped_data(&self, layout: &Layout) -> impl Iterator<Item = Range<Line>> {
        let mut copies = self.buffers.oldest_first();
        let sent = self.sent.iter().take(self.completed as usize);
        sent.map(move |from| match from {
            Some(buffer) => layout.data_lines(*buffer),
            None => copies.next().expect("a packet that was copied is in a transmit buffer"),
        })
    }

    /// Descriptors in use.
    pub(crate) fn in_use(&self) -> u32 {
        self.in_use
    }

    /// Packets sent whose descriptor the driver has not reclaimed yet.
    pub(crate) fn unreclaimed(&self) -> usize {
        self.sent.len()
    }

    /// Receive buffers of packets that have been sent from them and are not reclaimed yet.
    pub(super) fn receive_buffers_held(&self) -> impl Iterator<Item = Buffer> {
        self.sent.iter().flatten().copied()
    }
}

/// Faults that the balance checks must catch.
#[cfg(test)]
impl TransmitQueue {
    pub(crate) fn lose_doorbell(&mut self) {
        self.rung += 1;
    }

    pub(crate) fn report_without_event(&mut self) {
        self.reporting += self.completion_batch;
    }
}
