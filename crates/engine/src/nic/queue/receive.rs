//! The receive half of a queue pair: its descriptors with the buffers behind them, and its packets
//! from the NIC's SRAM to the core.
//!
//! A descriptor goes round. The driver writes it when it takes the descriptor's packet (`unrung`), rings
//! the doorbell (`unposted` while there is no buffer for it), and posts it with a buffer (`posted`). Its
//! doorbell is on its way (`rung`), then the NIC knows of it, fetches it (`fetched`), and uses it for
//! the next packet.

use std::collections::VecDeque;
use std::collections::vec_deque::Drain;

use crate::memory::address_space::AddressSpace;
use crate::memory::line::Line;
use crate::nic::buffers::{Layout, Region};
use crate::nic::config::{Nic, Queues};
use crate::nic::counts::ReceiveCounts;
use crate::nic::pool::{Buffer, Pool};
use crate::nic::ring::{Position, Ring};
use crate::rng::Rng;
use crate::time::Ps;

/// A receive queue.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveQueue {
    /// Written by the driver, read by the NIC.
    pub(crate) descriptors: Ring,
    /// Written by the NIC, read by the driver.
    pub(crate) completions: Ring,
    /// Up to where the IOMMU has looked up addresses of completions, ahead of the writes.
    pub(crate) completions_translated: Position,
    pub(crate) layout: Layout,
    pub(super) pool: Pool,
    /// Buffers that the application keeps.
    kept: u32,
    post_batch: u32,
    /// Descriptors whose packets the core has taken but whose doorbell has not left the core yet.
    unrung: u32,
    /// Descriptors already rung for that are not posted: no buffer is free, or they are fewer than a batch.
    unposted: u32,
    /// Buffers behind posted descriptors, in ring order.
    posted: VecDeque<Buffer>,
    /// How many of these, from the front, have descriptors that the NIC has fetched, and how many, from
    /// the back, have a doorbell that has not reached the NIC yet. Together at most all.
    fetched: u32,
    rung: u32,
    /// Whether a descriptor fetch is under way.
    fetching: bool,
    /// Packets in the NIC's SRAM that do not have a descriptor yet.
    without_descriptor: u32,
    /// Packets whose data the NIC has written but whose completion is not in memory yet, in order.
    uncompleted: VecDeque<u32>,
    /// How many of these, from the back, the NIC is gathering into one write.
    gathered: u32,
    /// Packets whose completion is visible, in order.
    visible: VecDeque<u32>,
    /// These, and packets of a burst that the core has taken but not begun.
    waiting: u32,
    /// Packets of a backlog generator that the core has not begun, wherever they are.
    backlog: u32,
    pub(crate) counts: ReceiveCounts,
}

impl ReceiveQueue {
    /// A queue whose driver has posted as many descriptors as there are buffers for.
    pub(super) fn new(
        config: &Queues,
        nic: &Nic,
        (region, rank): (Region, u32),
        space: &mut AddressSpace,
        stream: &mut Rng,
    ) -> ReceiveQueue {
        let size = config.rx_descriptors;
        let descriptors = Ring::new(space, size, nic.descriptor_size.0 as u32);
        let completions = Ring::new(space, size, nic.completion_size.0 as u32);
        let mut queue = ReceiveQueue {
            descriptors,
            completions_translated: completions.nic,
            completions,
            layout: Layout::new(config, region),
            pool: region.pool(config, rank, stream),
            kept: 0,
            post_batch: config.post_batch,
            unrung: 0,
            unposted: size,
            posted: VecDeque::with_capacity(size as usize),
            fetched: 0,
            rung: 0,
            fetching: false,
            without_descriptor: 0,
            uncompleted: VecDeque::new(),
            gathered: 0,
            visible: VecDeque::new(),
            waiting: 0,
            backlog: 0,
            counts: ReceiveCounts::default(),
        };
        let posted = queue.post();
        queue.counts.unfetched.enter(Ps::ZERO, posted.into());
        queue
    }

    /// The driver writes descriptors, as many as it has taken packets. Returns the lines they lie in.
    pub(crate) fn write_descriptors(&mut self, n: u32) -> impl Iterator<Item = Line> + use<> {
        self.unrung += n;
        self.descriptors.driver.advance_by(n)
    }

    /// A doorbell for descriptors that have been written leaves the core: together with earlier ones
    /// that had no buffer, they are posted as far as there are buffers. Returns how many were posted.
    pub(crate) fn ring(&mut self, written: u32) -> u32 {
        self.unrung -= written;
        self.unposted += written;
        let posted = self.post();
        self.rung += posted;
        posted
    }

    /// Posts free buffers to the NIC for all descriptors without one, if at least a batch of these
    /// has gathered. Returns how many were posted.
    fn post(&mut self) -> u32 {
        let before = self.unposted;
        if before < self.post_batch {
            return 0;
        }
        while self.unposted > 0
            && let Some(buffer) = self.pool.take()
        {
            self.posted.push_back(buffer);
            self.unposted -= 1;
        }
        before - self.unposted
    }

    /// A doorbell for posted descriptors reaches the NIC.
    pub(crate) fn doorbell(&mut self, now: Ps, posted: u32) {
        self.rung -= posted;
        self.counts.used.leave(now, posted.into());
        self.counts.unfetched.enter(now, posted.into());
    }

    /// The NIC fetches up to a batch of descriptors ahead of their use. Returns how many, if it has
    /// any to fetch now.
    pub(crate) fn begin_fetch(&mut self, batch: u32) -> Option<u32> {
        let ready = self.known() - self.fetched;
        if self.fetching || ready == 0 || self.fetched >= batch {
            return None;
        }
        self.fetching = true;
        Some(ready.min(batch))
    }

    /// The fetched descriptors are at the NIC.
    pub(crate) fn end_fetch(&mut self, now: Ps, n: u32, took: Ps) {
        self.fetched += n;
        debug_assert!(self.fetched <= self.known());
        self.fetching = false;
        self.counts.unfetched.leave(now, n.into());
        self.counts.fetches.ended(took);
    }

    /// The NIC uses the next fetched descriptor for a packet; returns its buffer.
    pub(crate) fn use_descriptor(&mut self, now: Ps) -> Buffer {
        self.fetched -= 1;
        self.without_descriptor -= 1;
        self.counts.used.enter(now, 1);
        self.counts.starved.end(now);
        self.posted.pop_front().expect("a fetched descriptor is posted")
    }

    /// A packet is done with its buffer.
    pub(crate) fn free(&mut self, buffer: Buffer) {
        self.pool.put(buffer);
    }

    /// The application keeps a packet's buffer beyond the packet.
    pub(crate) fn keep(&mut self) {
        self.kept += 1;
    }

    /// The application gives back a buffer that it has kept.
    pub(crate) fn give_back(&mut self, buffer: Buffer) {
        self.kept -= 1;
        self.free(buffer);
    }

    /// Buffers that the application keeps.
    pub(super) fn kept(&self) -> u32 {
        self.kept
    }

    /// Buffers behind posted descriptors.
    pub(super) fn posted_buffers(&self) -> impl Iterator<Item = Buffer> {
        self.posted.iter().copied()
    }

    /// Descriptors posted to the NIC that it has not used.
    pub(crate) fn posted(&self) -> u32 {
        self.posted.len() as u32
    }

    /// Those of them that the NIC knows of: their doorbell has reached it.
    pub(crate) fn known(&self) -> u32 {
        self.posted() - self.rung
    }

    /// Those of them that the NIC has fetched.
    pub(crate) fn fetched(&self) -> u32 {
        self.fetched
    }

    /// Posted descriptors whose doorbell is on its way to the NIC.
    pub(crate) fn rung(&self) -> u32 {
        self.rung
    }

    /// Descriptors that hold no packet: posted, or to be posted.
    pub(crate) fn without_packet(&self) -> u32 {
        self.posted() + self.unposted + self.unrung
    }

    /// A packet is in the SRAM and needs a descriptor.
    pub(crate) fn admit(&mut self) {
        self.without_descriptor += 1;
    }

    /// The NIC drops a packet because it knows of no descriptor.
    pub(crate) fn drop_packet(&mut self, now: Ps) {
        debug_assert_eq!(self.backlog, 0, "a generator sees the ring");
        self.without_descriptor -= 1;
        self.counts.dropped += 1;
        self.counts.starved.begin(now);
    }

    /// Packets in the SRAM that do not have a descriptor yet.
    pub(crate) fn without_descriptor(&self) -> u32 {
        self.without_descriptor
    }

    /// All data of a packet is on its way: its completion joins those gathered. Returns how many these
    /// are.
    pub(crate) fn gather(&mut self, packet: u32) -> u32 {
        self.uncompleted.push_back(packet);
        self.gathered += 1;
        self.gathered
    }

    /// Completions that the NIC is gathering into one write.
    pub(crate) fn gathered(&self) -> u32 {
        self.gathered
    }

    /// The NIC sends the gathered completions. Returns how many.
    pub(crate) fn send_completions(&mut self) -> u32 {
        std::mem::take(&mut self.gathered)
    }

    /// Packets whose completion is not in memory yet, in order.
    pub(crate) fn uncompleted(&self) -> impl DoubleEndedIterator<Item = &u32> {
        self.uncompleted.iter()
    }

    /// The completions of the next `n` packets reach memory; returns these packets.
    pub(crate) fn complete(&mut self, n: u32) -> Drain<'_, u32> {
        debug_assert!(n + self.gathered <= self.uncompleted.len() as u32);
        self.uncompleted.drain(..n as usize)
    }

    /// The core can see the completion of a packet.
    pub(crate) fn show(&mut self, now: Ps, packet: u32) {
        self.visible.push_back(packet);
        self.waiting += 1;
        self.counts.waiting.enter(now, 1);
    }

    /// Packets whose completion is visible and that the driver has not taken, in order.
    pub(crate) fn visible(&self) -> &VecDeque<u32> {
        &self.visible
    }

    /// The driver takes the next visible packet. Returns it, and the line of its completion.
    #[inline]
    pub(crate) fn take(&mut self) -> (u32, Line) {
        let packet = self.visible.pop_front().expect("the burst is no longer than the queue");
        (packet, self.completions.driver.advance())
    }

    /// The core begins a packet.
    pub(crate) fn begin(&mut self, now: Ps) {
        self.backlog = self.backlog.saturating_sub(1);
        self.waiting -= 1;
        self.counts.waiting.leave(now, 1);
    }

    /// Packets that wait for the core: visible ones, and those of a burst that it has taken but not begun.
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The backlog generator adds a packet.
    pub(crate) fn add_to_backlog(&mut self) {
        self.backlog += 1;
    }

    /// Packets of a backlog in transit through the NIC.
    pub(crate) fn in_transit(&self) -> u32 {
        self.backlog.saturating_sub(self.waiting())
    }

    /// How many packets a backlog of this depth lacks, as far as there are descriptors for them and at
    /// most so many are in transit.
    pub(crate) fn backlog_lacks(&self, depth: u32, most_in_transit: u32) -> u32 {
        let descriptors = self.known().saturating_sub(self.without_descriptor);
        let missing = depth.saturating_sub(self.backlog);
        missing.min(most_in_transit.saturating_sub(self.in_transit())).min(descriptors)
    }
}

/// Faults that the balance checks must catch.
#[cfg(test)]
impl ReceiveQueue {
    pub(crate) fn lose_doorbell(&mut self) {
        self.rung += 1;
    }

    pub(crate) fn count_unposted_twice(&mut self) {
        self.unposted += 1;
    }
}
