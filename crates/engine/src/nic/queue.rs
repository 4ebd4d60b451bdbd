//! A pair of receive and transmit queues: descriptor rings, the buffers behind them, and the
//! packets that wait for the core.

use std::collections::VecDeque;
use std::ops::Range;

use super::buffers::{Region, buffer_lines, data_start, tx_buffers};
use super::config::{Nic, Queues};
use super::counts::Counts;
use super::pool::{Buffer, Pool};
use super::ring::Ring;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{Line, lines_in};
use crate::memory::placement::Reader;
use crate::rng::Rng;
use crate::time::Ps;
use crate::units::Size;

/// A queue pair and its core's view of it.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) core: u16,
    /// Receive descriptors: the driver's position (writes) and the NIC's position (reads).
    pub(crate) rx_ring: Ring,
    pub(crate) rx_ring_nic: Ring,
    /// Completions: the NIC's position (writes) and, in `completions`, the driver's position (reads).
    pub(crate) completions_nic: Ring,
    /// The same ring, up to which the IOMMU has looked up addresses, ahead of the writes.
    pub(crate) completions_translated: Ring,
    pub(crate) completions: Ring,
    pub(crate) tx_ring: Ring,
    pub(crate) tx_ring_nic: Ring,
    /// The same ring, up to which the IOMMU has looked up addresses, ahead of the reads.
    pub(crate) tx_ring_translated: Ring,
    /// Buffers behind posted descriptors, in ring order.
    posted: VecDeque<Buffer>,
    /// How many of these, from the front, have descriptors that the NIC has fetched.
    pub(crate) fetched: u32,
    /// Whether a descriptor fetch is under way.
    pub(crate) fetching: bool,
    /// Packets in the NIC's SRAM that do not have a descriptor yet.
    pub(crate) without_descriptor: u32,
    /// Whether a packet of the queue's backlog found no room in the NIC's SRAM and waits for it.
    pub(crate) without_room: bool,
    pub(crate) pool: Pool,
    /// Descriptors whose packets the core has taken but whose doorbell has not left the core yet.
    pub(crate) rx_unrung: u32,
    /// Descriptors already rung for that are not posted: no buffer is free, or they are fewer than a batch.
    pub(crate) unposted: u32,
    /// Posted descriptors, the most recent ones, whose doorbell has not reached the NIC yet.
    pub(crate) rung: u32,
    /// Packets whose completion is visible, in order.
    pub(crate) visible: VecDeque<u32>,
    /// Packets of a backlog generator that the core has not begun, wherever they are.
    pub(crate) backlog: u32,
    /// Those of them that the driver has taken from the queue.
    pub(crate) taken: u32,
    /// Packets whose data the NIC has written but whose completion is not in memory yet, in order.
    pub(crate) uncompleted: VecDeque<u32>,
    /// How many of these, from the back, the NIC is gathering into one write.
    pub(crate) gathered: u32,
    /// Packets that wait in software for a transmit descriptor, in order.
    pub(crate) tx_backlog: VecDeque<u32>,
    max_backlog: u32,
    /// Posted packets whose transmit descriptor the NIC has not read yet, in order.
    pub(crate) tx_posted: VecDeque<u32>,
    /// How many of these, from the back, have not been rung for, and how many before those have a
    /// doorbell that has not reached the NIC yet.
    pub(crate) tx_unrung: u32,
    pub(crate) tx_rung: u32,
    /// Packets whose transmit descriptor the NIC has read but whose data it has not requested, in order.
    pub(crate) tx_ready: VecDeque<u32>,
    /// Packets whose transmit descriptor the NIC is reading or has read, but whose data it has not
    /// requested.
    pub(crate) tx_fetched: u32,
    /// Reads of packet data that is not on the wire yet, in order; used with a PCIe link or a wire.
    pub(crate) leaving: VecDeque<u32>,
    /// Transmit completions: the NIC's position (writes) and the driver's position (reads).
    pub(crate) tx_completions_nic: Ring,
    pub(crate) tx_completions: Ring,
    /// Packets sent whose transmit descriptor the driver has not reclaimed yet, each with the
    /// receive buffer that it was sent from, if any.
    pub(crate) sent: VecDeque<Option<Buffer>>,
    /// How many of these, from the front, are reported by completions in memory, and how many after
    /// those by completions on their way.
    completed: u32,
    reporting: u32,
    tx_completion_batch: u32,
    post_batch: u32,
    pub(crate) rx_descriptors: u32,
    /// Transmit descriptors in use.
    transmitting: u32,
    tx_descriptors: u32,
    next_tx: u32,
    /// The transmit buffer that the driver reclaims next.
    reaped_tx: u32,
    first_buffer: Line,
    buffer_lines: u32,
    metadata_offset: u32,
    data_offset: u32,
    pub(crate) metadata_lines: u32,
    /// First lines of the transmit buffers, in the order of use.
    tx_buffers: Vec<Line>,
    tx_lines: u32,
    pub(crate) counts: Counts,
}

impl Queue {
    /// The queue pair of a core that, besides what it forwards, transmits up to `tx_bytes` per packet.
    pub(crate) fn new(
        core: u16,
        config: &Queues,
        tx_bytes: Size,
        nic: &Nic,
        (region, rank): (Region, u32),
        space: &mut AddressSpace,
        stream: &mut Rng,
    ) -> Queue {
        let tx_lines = lines_in(tx_bytes.0);
        let tx_count = config.tx_descriptors + config.tx_backlog;
        let tx_buffers = tx_buffers(config.start, tx_count, tx_lines, space, stream);
        let descriptor = nic.descriptor_size.0 as u32;
        let completion = nic.completion_size.0 as u32;
        let rx_ring = Ring::new(space, config.rx_descriptors, descriptor);
        let completions = Ring::new(space, config.rx_descriptors, completion);
        let tx_ring = Ring::new(space, config.tx_descriptors, descriptor);
        let reports = config.tx_descriptors.div_ceil(config.tx_completion_batch);
        let tx_completions = Ring::new(space, reports, completion);
        let mut queue = Queue {
            core,
            rx_ring_nic: rx_ring.clone(),
            rx_ring,
            completions_nic: completions.clone(),
            completions_translated: completions.clone(),
            completions,
            tx_ring_nic: tx_ring.clone(),
            tx_ring_translated: tx_ring.clone(),
            tx_ring,
            tx_completions_nic: tx_completions.clone(),
            tx_completions,
            uncompleted: VecDeque::new(),
            gathered: 0,
            tx_backlog: VecDeque::with_capacity(config.tx_backlog as usize),
            max_backlog: config.tx_backlog,
            tx_posted: VecDeque::new(),
            rung: 0,
            tx_unrung: 0,
            tx_rung: 0,
            tx_ready: VecDeque::new(),
            leaving: VecDeque::new(),
            tx_fetched: 0,
            sent: VecDeque::new(),
            completed: 0,
            reporting: 0,
            tx_completion_batch: config.tx_completion_batch,
            post_batch: config.post_batch,
            rx_descriptors: config.rx_descriptors,
            posted: VecDeque::with_capacity(config.rx_descriptors as usize),
            fetched: 0,
            fetching: false,
            without_descriptor: 0,
            without_room: false,
            pool: region.pool(config, rank, stream),
            rx_unrung: 0,
            unposted: config.rx_descriptors,
            visible: VecDeque::new(),
            backlog: 0,
            taken: 0,
            transmitting: 0,
            tx_descriptors: config.tx_descriptors,
            next_tx: 0,
            reaped_tx: 0,
            first_buffer: region.first,
            buffer_lines: buffer_lines(config),
            metadata_offset: lines_in(config.object_header.0),
            data_offset: lines_in(data_start(config)),
            metadata_lines: lines_in(config.metadata.0),
            tx_buffers,
            tx_lines,
            counts: Counts::default(),
        };
        let posted = queue.post();
        queue.counts.unfetched.enter(Ps::ZERO, posted.into());
        queue
    }

    /// Posts free buffers to the NIC for all descriptors without one, if at least a batch of these
    /// has gathered. Returns how many were posted.
    pub(crate) fn post(&mut self) -> u32 {
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

    /// Packets that wait for the core: visible ones, and those of a burst that it has taken but not begun.
    pub(crate) fn waiting(&self) -> u32 {
        self.visible.len() as u32 + self.taken
    }

    /// Who reads what the NIC writes for this queue.
    pub(crate) fn reader(&self) -> Reader {
        Reader { core: self.core, waiting: self.waiting() }
    }

    /// Descriptors that hold a packet or have not been posted again yet.
    pub(crate) fn used(&self) -> u32 {
        self.rx_descriptors - self.posted()
    }

    /// Descriptors posted to the NIC, which it may fetch or use.
    pub(crate) fn posted(&self) -> u32 {
        self.posted.len() as u32
    }

    /// The NIC uses the next descriptor; returns its buffer.
    pub(crate) fn use_descriptor(&mut self) -> Buffer {
        self.fetched -= 1;
        self.without_descriptor -= 1;
        self.posted.pop_front().expect("a fetched descriptor is posted")
    }

    /// First line of a buffer's data.
    pub(crate) fn data(&self, buffer: Buffer) -> Line {
        self.first_buffer + buffer * self.buffer_lines + self.data_offset
    }

    /// First line of a buffer's driver metadata.
    pub(crate) fn metadata(&self, buffer: Buffer) -> Line {
        self.first_buffer + buffer * self.buffer_lines + self.metadata_offset
    }

    /// How many transmit descriptors are free.
    pub(crate) fn tx_room(&self) -> u32 {
        self.tx_descriptors - self.transmitting
    }

    /// How many packets the core can take with room guaranteed for their replies.
    pub(crate) fn reply_room(&self) -> u32 {
        self.tx_room() + self.max_backlog - self.tx_backlog.len() as u32
    }

    /// First line of the transmit buffer for the next packet to send.
    pub(crate) fn next_tx_buffer(&self) -> Line {
        self.tx_buffers[self.next_tx as usize]
    }

    /// The packet that uses the next transmit buffer will be sent: sooner or later it takes a
    /// descriptor, in order.
    pub(crate) fn use_tx_buffer(&mut self) {
        self.next_tx = (self.next_tx + 1) % self.tx_buffers.len() as u32;
    }

    /// Records whether the core takes fewer packets than it could because there is no room for
    /// their replies.
    pub(crate) fn waits_for_tx(&mut self, now: Ps, waits: bool) {
        let starved = &mut self.counts.tx_starved;
        if waits { starved.begin(now) } else { starved.end(now) }
    }

    /// Takes the next transmit descriptor.
    pub(crate) fn take_tx(&mut self, now: Ps) {
        debug_assert!(self.tx_room() > 0);
        self.counts.tx.enter(now, 1);
        self.transmitting += 1;
    }

    /// The NIC has read a packet, which was sent from a receive buffer or not. If this fills a
    /// batch, returns the line of the completion that the NIC writes.
    pub(crate) fn packet_sent(&mut self, from: Option<Buffer>) -> Option<Line> {
        self.sent.push_back(from);
        let unreported = self.sent.len() as u32 - self.completed - self.reporting;
        (unreported == self.tx_completion_batch).then(|| {
            self.reporting += unreported;
            self.tx_completions_nic.advance()
        })
    }

    /// Packets sent whose completion is on its way.
    pub(crate) fn reporting(&self) -> u32 {
        self.reporting
    }

    /// Injects a fault that the balance checks must catch.
    #[cfg(test)]
    pub(crate) fn report_without_event(&mut self) {
        self.reporting += self.tx_completion_batch;
    }

    /// The next transmit completion is in memory.
    pub(crate) fn sent_reported(&mut self) {
        self.reporting -= self.tx_completion_batch;
        self.completed += self.tx_completion_batch;
    }

    /// The driver reclaims the descriptors of all packets reported as sent, and the receive buffers
    /// that they were sent from. Returns how many completions reported them.
    pub(crate) fn reap(&mut self, now: Ps) -> u32 {
        let n = std::mem::take(&mut self.completed);
        let copies = self.sent.iter().take(n as usize).filter(|from| from.is_none()).count();
        self.reaped_tx = (self.reaped_tx + copies as u32) % self.tx_buffers.len() as u32;
        for buffer in self.sent.drain(..n as usize).flatten() {
            self.pool.put(buffer);
        }
        self.transmitting -= n;
        self.counts.tx.leave(now, n.into());
        n / self.tx_completion_batch
    }

    /// Data lines of the packets that [`Self::reap`] is about to reclaim.
    pub(crate) fn reaped_data(&self) -> impl Iterator<Item = Range<Line>> + '_ {
        let room = self.tx_buffers.len();
        let (sent, mut copies) = (self.sent.iter().take(self.completed as usize), 0);
        sent.map(move |from| match from {
            Some(buffer) => self.data_lines(*buffer),
            None => {
                let first = self.tx_buffers[(self.reaped_tx as usize + copies) % room];
                copies += 1;
                first..first + self.tx_lines
            }
        })
    }

    /// The lines of a receive buffer that are for data.
    pub(crate) fn data_lines(&self, buffer: Buffer) -> Range<Line> {
        let first = self.data(buffer);
        first..first + self.buffer_lines - self.data_offset
    }

    /// Transmit descriptors in use.
    pub(crate) fn transmitting(&self) -> u32 {
        self.transmitting
    }

    /// Buffers that are not with a packet: in the pool, behind posted descriptors, or sent but not
    /// reclaimed.
    pub(crate) fn idle_buffers(&self) -> u64 {
        let sent = self.sent.iter().flatten().count();
        (self.pool.len() + self.posted.len() + sent) as u64
    }
}
