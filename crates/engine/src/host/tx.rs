//! DMA reads of the NIC: descriptors and the data of packets to transmit.
//!
//! A packet is read request by request (`pcie.max_read_request`), each when there are credits for it.
//!
//! Without `tx_descriptor_batch` packets are read in the order of their doorbells, each with its
//! descriptor. With it the driver rings once a burst, and the NIC reads the descriptors that are posted, up to
//! so many at a time, and the next of a queue only when it has asked for the data of all packets before: a
//! queue that is alone leaves the link idle for the round trip of that read, several queues cover for each
//! other.

use std::collections::VecDeque;
use std::mem::take;

use super::domains::DomainCounters;
use super::timeline::Point;
use super::{Event, Host};
use crate::config::machine::Machine;
use crate::frame::wire_bits;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::slots::Slots;
use crate::time::Ps;
use crate::wire::line_rate::LineRate;

/// What a read is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum For {
    /// So many receive descriptors of a queue.
    Descriptors { queue: u16, count: u32 },
    /// So many transmit descriptors of a queue.
    TxDescriptors { queue: u16, count: u32 },
    /// So many lines of a packet to send, from one on. Before the first comes the packet's descriptor, unless
    /// that has been read before.
    Transmit { packet: u32, from: u32, lines: u32 },
    /// A transaction of the DMA benchmark.
    Bench { first: Line, lines: u32 },
}

/// A read under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) purpose: For,
    started: Ps,
    /// Lines that memory has not delivered yet.
    missing: u32,
    /// When the last of the others is at the I/O controller.
    ready: Ps,
    /// Line credits and read requests that it holds until all data is there.
    pub(super) credits: u32,
    requests: u32,
    /// Bytes that come back.
    bytes: u64,
}

/// The read engine.
#[derive(Clone, Debug)]
pub(super) struct Transmitter {
    pub(super) reads: Slots<Read>,
    line_credits: u32,
    pub(super) free_line_credits: u32,
    /// Lines of a packet that are asked for together, and those already asked for of the packet whose
    /// turn it is.
    request_lines: u32,
    asked: u32,
    max_requests: u32,
    pub(super) free_requests: u32,
    pub(super) descriptor_batch: Option<u32>,
    /// Fetches of descriptors that wait for a read request: one of each kind a queue at most.
    fetches: VecDeque<For>,
    /// Packets that wait for credits, when each descriptor is read with its packet's data.
    fifo: VecDeque<u32>,
    /// Queues with packets whose descriptors have been read: they take turns, a packet each.
    active: VecDeque<u16>,
    /// The line rate of the network link, if it is a limit.
    line_rate: Option<LineRate>,
    pub(super) in_flight: u64,
}

impl Transmitter {
    pub(super) fn new(machine: &Machine) -> Transmitter {
        let requests = machine.pcie.as_ref().map_or(u32::MAX, |p| p.non_posted_credits);
        let largest = machine.pcie.as_ref().map_or(u32::MAX, |p| lines_in(p.max_read_request.0));
        Transmitter {
            reads: Slots::default(),
            line_credits: machine.nic.read_credits,
            free_line_credits: machine.nic.read_credits,
            request_lines: largest.min(machine.nic.read_credits),
            asked: 0,
            max_requests: requests,
            free_requests: requests,
            descriptor_batch: machine.nic.tx_descriptor_batch,
            fetches: VecDeque::new(),
            fifo: VecDeque::new(),
            active: VecDeque::new(),
            line_rate: machine.nic.link.map(LineRate::new),
            in_flight: 0,
        }
    }

    /// Line credits in use.
    pub(super) fn credits_used(&self) -> u32 {
        self.line_credits - self.free_line_credits
    }

    /// Credits for lines and for read requests: all of them, and those that are free or held by a
    /// read under way.
    pub(super) fn credits(&self) -> [(u64, u64); 2] {
        let (mut lines, mut requests) = (self.free_line_credits, self.free_requests);
        for read in self.reads.iter() {
            lines += read.credits;
            requests += read.requests;
        }
        [(self.line_credits, lines), (self.max_requests, requests)]
            .map(|(all, found)| (u64::from(all), u64::from(found)))
    }
}

impl Host {
    /// Starts to fetch receive descriptors. They are few and small, and have priority: they take no
    /// line credits.
    pub(super) fn start_fetch(&mut self, queue: u16, count: u32) {
        self.tx.fetches.push_back(For::Descriptors { queue, count });
        self.start_reads(self.events.now());
    }

    /// The driver has posted a packet for transmission, and rings unless that waits for the burst's end.
    pub(super) fn post_tx(&mut self, now: Ps, packet: u32) {
        let p = self.packets.at(packet);
        if !p.ended {
            p.posted = now;
        }
        p.unsent = lines_in(p.tx.expect("a posted packet has its data").1.into());
        if let Some(recording) = &mut self.recording {
            recording.pass(packet, &[(Point::Doorbell, now)]);
        }
        let queue = p.queue;
        self.tx.in_flight += 1;
        let q = &mut self.queues[queue as usize];
        q.tx_posted.push_back(packet);
        q.tx_unrung += 1;
        if self.tx.descriptor_batch.is_none() {
            self.ring_tx(now, queue);
        }
    }

    /// The driver rings for what it has posted since it last did.
    pub(super) fn ring_tx(&mut self, now: Ps, queue: u16) {
        let q = &mut self.queues[queue as usize];
        let packets = take(&mut q.tx_unrung);
        if packets > 0 {
            q.tx_rung += packets;
            let at = now + self.rx.latency();
            self.events.push(at, Event::TransmitDoorbell { queue, packets });
        }
    }

    /// The driver's doorbell for packets is at the NIC.
    pub(super) fn transmit_doorbell(&mut self, now: Ps, queue: u16, packets: u32) {
        let q = &mut self.queues[queue as usize];
        q.tx_rung -= packets;
        q.counts.unread.enter(now, packets.into());
        if self.tx.descriptor_batch.is_some() {
            self.fetch_tx_descriptors(queue);
        } else {
            self.tx.fifo.extend(q.tx_posted.drain(..packets as usize));
        }
        self.start_reads(now);
    }

    /// A queue's next descriptors are to be read if the NIC has asked for the data of all packets
    /// whose descriptors it has read.
    fn fetch_tx_descriptors(&mut self, queue: u16) {
        let Some(batch) = self.tx.descriptor_batch else { return };
        let q = &mut self.queues[queue as usize];
        if q.tx_fetched > 0 {
            return;
        }
        let count = batch.min(q.tx_posted.len() as u32 - q.tx_unrung - q.tx_rung);
        if count > 0 {
            q.tx_fetched = count;
            q.counts.tx_turn.enter(self.events.now(), 1);
            self.tx.fetches.push_back(For::TxDescriptors { queue, count });
        }
    }

    /// Starts the reads that credits allow.
    fn start_reads(&mut self, now: Ps) {
        loop {
            while self.tx.free_requests > 0
                && let Some(fetch) = self.tx.fetches.pop_front()
            {
                self.start_read(now, fetch, 0, 1);
            }
            let turn = self.tx.active.front().copied();
            let next = match turn {
                Some(queue) => self.queues[queue as usize].tx_ready.front(),
                None => self.tx.fifo.front(),
            };
            let Some(&packet) = next else { return };
            let (_, bytes) = self.packets.get(packet).tx.expect("a posted packet has its data");
            let (from, all) = (self.tx.asked, lines_in(bytes.into()));
            let lines = self.tx.request_lines.min(all - from);
            // A descriptor that has not been read takes a request of its own.
            let descriptor = u32::from(from == 0 && self.tx.descriptor_batch.is_none());
            let requests = (descriptor + 1).min(self.tx.max_requests);
            if !self.can_read(lines, requests) {
                return;
            }
            self.start_read(now, For::Transmit { packet, from, lines }, lines, requests);
            self.tx.asked += lines;
            if self.tx.asked < all {
                continue;
            }
            self.tx.asked = 0;
            let queue = self.packets.get(packet).queue;
            self.queues[queue as usize].counts.unread.leave(now, 1);
            match turn {
                Some(queue) => self.end_turn(queue),
                None => {
                    self.tx.fifo.pop_front();
                }
            }
        }
    }

    /// Starts a read of the DMA benchmark; false if credits do not allow it.
    pub(super) fn read_bench(&mut self, at: Ps, first: Line, lines: u32) -> bool {
        let bytes = u64::from(lines) * LINE_BYTES;
        let requests = self.rx.link.as_ref().map_or(1, |l| l.requests(bytes));
        let requests = requests.min(self.tx.max_requests);
        let free = self.can_read(lines, requests);
        if free {
            self.start_read(at, For::Bench { first, lines }, lines, requests);
        }
        free
    }

    /// Whether there are credits for a read that waits for them.
    fn can_read(&mut self, lines: u32, requests: u32) -> bool {
        let now = self.events.now();
        let DomainCounters { read_lines, read_requests, .. } = &mut self.meters.domains;
        let wanted = [
            (read_lines, self.tx.free_line_credits >= lines),
            (read_requests, self.tx.free_requests >= requests),
        ];
        let mut all = true;
        for (pool, free) in wanted {
            if free {
                pool.starved.end(now)
            } else {
                pool.starved.begin(now)
            }
            all &= free;
        }
        all
    }

    /// A queue's turn is over: the NIC has asked for the data of its first packet.
    fn end_turn(&mut self, queue: u16) {
        self.tx.active.pop_front();
        let q = &mut self.queues[queue as usize];
        q.tx_ready.pop_front();
        q.tx_fetched -= 1;
        if q.tx_fetched > 0 {
            self.tx.active.push_back(queue);
        } else {
            q.counts.tx_turn.leave(self.events.now(), 1);
            self.fetch_tx_descriptors(queue);
        }
    }

    /// Takes the credits of a read and sends its requests.
    fn start_read(&mut self, at: Ps, purpose: For, credits: u32, requests: u32) {
        self.tx.free_line_credits -= credits;
        self.tx.free_requests -= requests;
        let now = self.events.now();
        self.meters.domains.read_lines.used.enter(now, credits.into());
        self.meters.domains.read_requests.used.enter(now, requests.into());
        let started = at;
        let read = Read { purpose, started, missing: 0, ready: at, credits, requests, bytes: 0 };
        let read = self.tx.reads.add(read);
        let latency = self.rx.latency();
        let at = self.rx.link.as_mut().map_or(at + latency, |link| link.request(at, requests));
        self.events.push(at, Event::Read { read });
        if let (Some(recording), For::Transmit { packet, from: 0, .. }) =
            (&mut self.recording, purpose)
        {
            recording.pass(packet, &[(Point::ReadSent, started), (Point::ReadAtMemory, at)]);
        }
    }

    /// A read reaches the memory system.
    pub(super) fn read(&mut self, now: Ps, read: u32) {
        let credits = self.tx.reads.get(read).credits;
        self.meters.domains.reading.enter(now, credits.into());
        match self.tx.reads.get(read).purpose {
            For::Descriptors { queue, count } => {
                let mut ring = self.queues[queue as usize].rx_ring_nic.clone();
                for line in ring.advance_by(count) {
                    self.read_line(now, read, line, LineKind::Descriptor, LINE_BYTES);
                }
                self.queues[queue as usize].rx_ring_nic = ring;
            }
            For::TxDescriptors { queue, count } => {
                let mut ring = self.queues[queue as usize].tx_ring_nic.clone();
                for line in ring.advance_by(count) {
                    self.read_line(now, read, line, LineKind::Descriptor, LINE_BYTES);
                }
                self.queues[queue as usize].tx_ring_nic = ring;
            }
            For::Transmit { packet, from, lines } => {
                let p = *self.packets.get(packet);
                if from == 0 && self.tx.descriptor_batch.is_none() {
                    let descriptor = self.queues[p.queue as usize].tx_ring_nic.advance();
                    self.read_line(now, read, descriptor, LineKind::Descriptor, LINE_BYTES);
                }
                let (first, bytes) = p.tx.expect("a posted packet has its data");
                let mut rest = u64::from(bytes) - u64::from(from) * LINE_BYTES;
                let kind = if p.zero_copy { LineKind::Rx } else { LineKind::Tx };
                for line in first + from..first + from + lines {
                    self.read_line(now, read, line, kind, rest.min(LINE_BYTES));
                    rest = rest.saturating_sub(LINE_BYTES);
                }
            }
            For::Bench { first, lines } => {
                for line in first..first + lines {
                    self.read_line(now, read, line, LineKind::Bench, LINE_BYTES);
                }
            }
        }
        self.finish_read(read);
    }

    /// A line of a read, of which so many bytes are wanted.
    fn read_line(&mut self, now: Ps, read: u32, line: Line, kind: LineKind, bytes: u64) {
        self.meters.io_lines += 1;
        let r = self.tx.reads.at(read);
        r.bytes += bytes;
        match self.memory.io_read(now, line, kind, read) {
            Some(at) => r.ready = r.ready.max(at),
            None => r.missing += 1,
        }
    }

    /// Memory has delivered a line of a read.
    pub(super) fn read_arrived(&mut self, now: Ps, read: u32) {
        let r = self.tx.reads.at(read);
        r.missing -= 1;
        r.ready = r.ready.max(now);
        self.finish_read(read);
    }

    /// Sends the data to the NIC if all of it is there.
    fn finish_read(&mut self, read: u32) {
        let r = *self.tx.reads.get(read);
        if r.missing > 0 {
            return;
        }
        self.meters.domains.reading.leave(r.ready, r.credits.into());
        let latency = self.rx.latency();
        let mut at = match &mut self.rx.link {
            Some(link) => link.completion(r.ready, r.bytes),
            None => r.ready + latency,
        };
        if let (Some(recording), For::Transmit { packet, .. }) = (&mut self.recording, r.purpose) {
            recording.pass(packet, &[(Point::ReadReady, r.ready), (Point::AtNic, at)]);
        }
        if let (For::Transmit { packet, from, lines }, Some(line)) =
            (r.purpose, &mut self.tx.line_rate)
        {
            // What has been read keeps its credits, the NIC's buffer, until it is on the wire. The
            // frame's preamble and gap go with its last part.
            let (_, bytes) = self.packets.get(packet).tx.expect("it has data");
            let before = from * LINE_BYTES as u32;
            let bits = if from + lines == lines_in(bytes.into()) {
                wire_bits(bytes - before)
            } else {
                u64::from(lines) * LINE_BYTES * 8
            };
            let here = at;
            at = line.passes(here, bits);
            self.meters.domains.sending.enter(here, lines.into());
            self.meters.domains.sending.leave(at, lines.into());
        }
        if let (For::Bench { .. }, Some(bench)) = (r.purpose, &self.bench) {
            at += bench.overhead;
        }
        self.events.push(at, Event::ReadDone { read });
    }

    pub(super) fn read_done(&mut self, now: Ps, read: u32) {
        let r = self.tx.reads.remove(read);
        self.tx.free_line_credits += r.credits;
        self.tx.free_requests += r.requests;
        self.meters.domains.read_lines.used.leave(now, r.credits.into());
        self.meters.domains.read_requests.used.leave(now, r.requests.into());
        match r.purpose {
            For::Descriptors { queue, count } => {
                let q = &mut self.queues[queue as usize];
                q.fetched += count;
                q.counts.unfetched.leave(now, count.into());
                q.counts.rx_fetches.ended(now - r.started);
                q.fetching = false;
                self.fetch_descriptors(queue as usize);
                self.receive(now);
            }
            For::TxDescriptors { queue, count } => {
                let q = &mut self.queues[queue as usize];
                if let Some(recording) = &mut self.recording {
                    let read = q.tx_posted.iter().take(count as usize);
                    recording.pass_all(read, &[(Point::Descriptor, now)]);
                }
                q.counts.tx_fetches.ended(now - r.started);
                q.tx_ready.extend(q.tx_posted.drain(..count as usize));
                self.tx.active.push_back(queue);
            }
            For::Transmit { packet, lines, .. } => {
                let p = self.packets.at(packet);
                p.unsent -= lines;
                if p.unsent == 0 {
                    self.sent(now, packet);
                }
            }
            For::Bench { .. } => self.bench_read_done(now, now - r.started),
        }
        self.start_reads(now);
    }

    /// The NIC has read a packet and sends it: its buffer is done with, by the NIC as well.
    fn sent(&mut self, now: Ps, packet: u32) {
        let p = *self.packets.get(packet);
        self.tx.in_flight -= 1;
        self.meters.sent(now, &p);
        if let Some(recording) = &mut self.recording {
            recording.transmitted(now, packet, &p);
        }
        self.acknowledged(now, packet);
        let q = &mut self.queues[p.queue as usize];
        if p.zero_copy && self.scenario.placement.sweeper {
            // The SweepBuffer flag of the work-queue entry (Sweeper paper, section V-D).
            let data = q.data(p.buffer.expect("a packet sent in place has a buffer"));
            self.memory.sweep(data, lines_in(u64::from(p.bytes)));
        }
        let (completion, core) = (q.packet_sent(p.buffer.filter(|_| p.zero_copy)), q.core);
        let p = self.packets.at(packet);
        p.to_send = false;
        p.buffer = p.buffer.filter(|_| !p.zero_copy);
        if p.ended {
            self.packets.remove(packet);
        }
        if let Some(line) = completion
            && self.goes_on(now, Event::TransmitComplete { core, line })
        {
            self.complete_transmit(now, core, line);
        }
    }

    /// The completion of transmitted packets reaches the memory system.
    pub(super) fn complete_transmit(&mut self, now: Ps, core: u16, line: Line) {
        self.memory.io_write(now, line, LineKind::Descriptor, false);
        self.meters.io_lines += 1;
        self.wake(core);
    }
}
