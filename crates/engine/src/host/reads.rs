//! DMA reads of the NIC: their credits, and their path to memory and back. A read for transmission keeps its
//! credits, which stand for the NIC's buffer, until its data is on the wire, in the order of its queue.

use std::collections::VecDeque;

use super::credits::Credits;
use super::timeline::Point;
use super::{Event, Host};
use crate::config::machine::Machine;
use crate::frame::wire_bits;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::slots::Slots;
use crate::time::Ps;

/// What a read is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum For {
    /// Receive descriptors of a queue.
    Descriptors { queue: u16, count: u32 },
    /// Transmit descriptors of a queue.
    TxDescriptors { queue: u16, count: u32 },
    /// Lines of a packet to send, starting at line `from`. Before line 0 comes the packet's
    /// descriptor, unless that has been read already.
    Transmit { packet: u32, from: u32, lines: u32 },
    /// A transaction of the DMA benchmark.
    Bench { first: Line, lines: u32 },
}

/// A read in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) purpose: For,
    started: Ps,
    /// Lines that memory has not delivered yet.
    missing: u32,
    /// When the last of the lines delivered so far is at the I/O controller.
    ready: Ps,
    /// Line credits that it holds until all data is at the NIC or, for transmission, on the wire.
    pub(super) credits: u32,
    /// Read requests that it holds until all data is at the NIC.
    requests: u32,
    /// Bytes that it returns.
    bytes: u64,
    /// Time for which its requests and its data waited for the link or were carried.
    on_link: Ps,
    /// All data is at the NIC.
    at_nic: bool,
}

/// The read engine.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    pub(super) under_way: Slots<Read>,
    /// Lines and requests that may be under way.
    pub(super) lines: Credits,
    pub(super) requests: Credits,
    /// Lines of a packet that are requested together.
    pub(super) request_lines: u32,
    /// Descriptor fetches that wait for a read request: at most one of each kind per queue.
    pub(super) fetches: VecDeque<For>,
}

impl Reads {
    pub(super) fn new(machine: &Machine) -> Reads {
        let requests =
            machine.pcie.as_ref().map_or(Credits::UNLIMITED, |p| p.non_posted_credits.into());
        let largest = machine.pcie.as_ref().map_or(u32::MAX, |p| lines_in(p.max_read_request.0));
        Reads {
            under_way: Slots::default(),
            lines: Credits::new(machine.nic.read_credits.into()),
            requests: Credits::new(requests),
            request_lines: largest.min(machine.nic.read_credits),
            fetches: VecDeque::new(),
        }
    }

    /// Lines and requests whose credits the reads in flight hold.
    pub(super) fn held(&self) -> (u64, u64) {
        let held = self.under_way.iter().map(|r| (u64::from(r.credits), u64::from(r.requests)));
        held.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.lines.reset_counts(now);
        self.requests.reset_counts(now);
    }
}

impl Host {
    /// Starts a fetch of receive descriptors. These are few and small, and have priority: they take
    /// no line credits.
    pub(super) fn start_fetch(&mut self, now: Ps, queue: u16, count: u32) {
        self.reads.fetches.push_back(For::Descriptors { queue, count });
        self.start_reads(now);
    }

    /// Read requests needed for a descriptor fetch; the scenario's check sees to it that there are so
    /// many.
    pub(super) fn fetch_requests(&self, fetch: For) -> u32 {
        let (For::Descriptors { count, .. } | For::TxDescriptors { count, .. }) = fetch else {
            panic!("{fetch:?} fetches no descriptors");
        };
        let bytes = u64::from(count) * self.scenario.machine.nic.descriptor_size.0;
        let lines = u64::from(lines_in(bytes));
        self.interconnect.requests(lines * LINE_BYTES)
    }

    /// Starts a read of the DMA benchmark. Returns false if credits do not allow it.
    pub(super) fn read_bench(&mut self, now: Ps, first: Line, lines: u32) -> bool {
        let bytes = u64::from(lines) * LINE_BYTES;
        let requests = self.interconnect.requests(bytes);
        let free = self.can_read(now, lines, requests);
        if free {
            self.start_read(now, For::Bench { first, lines }, lines, requests);
        }
        free
    }

    /// Whether there are credits for a read that waits for them.
    pub(super) fn can_read(&mut self, now: Ps, lines: u32, requests: u32) -> bool {
        // Descriptors take none: what waits for some still does.
        let line = lines == 0 || self.reads.lines.await_free(now, lines.into());
        let request = self.reads.requests.await_free(now, requests.into());
        line && request
    }

    /// Takes the credits of a read and sends its requests.
    pub(super) fn start_read(&mut self, now: Ps, purpose: For, credits: u32, requests: u32) {
        self.reads.lines.take(now, credits.into());
        self.reads.requests.take(now, requests.into());
        let at = self.interconnect.request(now, requests);
        let read = self.reads.under_way.add(Read {
            purpose,
            started: now,
            missing: 0,
            ready: now,
            credits,
            requests,
            bytes: 0,
            on_link: self.interconnect.carrying(now, at),
            at_nic: false,
        });
        if let (For::Transmit { packet, .. }, true) = (purpose, self.one_by_one()) {
            let queue = self.packets.get(packet).queue;
            self.queues[queue as usize].tx.leaving.push_back(read);
        }
        self.events.push(at, Event::Read { read });
        // Those of the last read of a frame count.
        if let (Some(recording), For::Transmit { packet, .. }) = (&mut self.recording, purpose) {
            recording.pass(packet, &[(Point::ReadSent, now), (Point::ReadAtMemory, at)]);
        }
    }

    /// A read reaches the memory system.
    pub(super) fn read(&mut self, now: Ps, read: u32) {
        let credits = self.reads.under_way.get(read).credits;
        self.meters.domains.reading.enter(now, credits.into());
        match self.reads.under_way.get(read).purpose {
            For::Descriptors { queue, count } => {
                let lines = self.queues[queue as usize].rx.descriptors.nic.advance_by(count);
                for line in lines {
                    self.read_line(now, read, line, LineKind::Descriptor, LINE_BYTES);
                }
            }
            For::TxDescriptors { queue, count } => {
                let lines = self.queues[queue as usize].tx.descriptors.nic.advance_by(count);
                for line in lines {
                    self.read_line(now, read, line, LineKind::Descriptor, LINE_BYTES);
                }
            }
            For::Transmit { packet, from, lines } => {
                let p = *self.packets.get(packet);
                if from == 0 && self.tx.descriptor_batch.is_none() {
                    let descriptor = self.queues[p.queue as usize].tx.descriptors.nic.advance();
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
        self.finish_read(now, read);
    }

    /// Reads one line of a read; only `bytes` of it are wanted.
    fn read_line(&mut self, now: Ps, read: u32, line: Line, kind: LineKind, bytes: u64) {
        self.meters.io_lines += 1;
        let r = self.reads.under_way.at(read);
        r.bytes += bytes;
        match self.memory.io_read(now, line, kind, read) {
            Some(at) => r.ready = r.ready.max(at),
            None => r.missing += 1,
        }
    }

    /// Memory has delivered a line of a read.
    pub(super) fn read_arrived(&mut self, now: Ps, read: u32) {
        let r = self.reads.under_way.at(read);
        r.missing -= 1;
        r.ready = r.ready.max(now);
        self.finish_read(now, read);
    }

    /// Whether there is a link or a line rate, which carries one read after the other.
    fn one_by_one(&self) -> bool {
        self.interconnect.link().is_some() || self.tx.line_rate.is_some()
    }

    /// Sends the data to the NIC when all of it is at the I/O controller, if that time is known.
    /// Data on its way from the LLC must not go before data that is already there.
    fn finish_read(&mut self, now: Ps, read: u32) {
        let r = self.reads.under_way.get(read);
        if r.missing > 0 {
            return;
        }
        if r.ready > now && self.one_by_one() {
            self.events.push(r.ready, Event::ReadReady { read });
        } else {
            self.answer_read(read);
        }
    }

    /// All data of a read is at the I/O controller: sends it to the NIC.
    pub(super) fn answer_read(&mut self, read: u32) {
        let r = *self.reads.under_way.get(read);
        self.meters.domains.reading.leave(r.ready, r.credits.into());
        let mut bytes = r.bytes;
        if matches!(r.purpose, For::Transmit { from: 0, .. }) && self.tx.descriptor_batch.is_none()
        {
            // The descriptor is the answer to a request of its own.
            self.interconnect.completion(r.ready, LINE_BYTES);
            bytes -= LINE_BYTES;
        }
        let mut at = self.interconnect.completion(r.ready, bytes);
        self.reads.under_way.at(read).on_link += self.interconnect.carrying(r.ready, at);
        if let (Some(recording), For::Transmit { packet, .. }) = (&mut self.recording, r.purpose) {
            recording.pass(packet, &[(Point::ReadReady, r.ready), (Point::AtNic, at)]);
        }
        if matches!(r.purpose, For::Transmit { .. }) && self.one_by_one() {
            self.events.push(at, Event::ReadAtNic { read });
            return;
        }
        if let (For::Bench { .. }, Some(bench)) = (r.purpose, &self.bench) {
            at += bench.overhead;
        }
        self.events.push(at, Event::ReadDone { read });
    }

    /// Data of a packet to send has arrived at the NIC, which gets its read requests back and sends
    /// what is next in the queue. Data that has arrived before something ahead of it waits for
    /// that, and counts as waiting for memory.
    pub(super) fn read_at_nic(&mut self, now: Ps, read: u32) {
        let r = self.reads.under_way.at(read);
        r.at_nic = true;
        let (For::Transmit { packet, lines, .. }, requests) =
            (r.purpose, std::mem::take(&mut r.requests))
        else {
            panic!("{:?} is not sent", r.purpose);
        };
        self.reads.requests.give_back(now, requests.into());
        self.meters.domains.reading.enter(now, lines.into());
        let queue = self.packets.get(packet).queue as usize;
        while let Some(&next) = self.queues[queue].tx.leaving.front()
            && self.reads.under_way.get(next).at_nic
        {
            self.queues[queue].tx.leaving.pop_front();
            self.send_read(now, next);
        }
        self.start_reads(now);
    }

    /// Puts data that is at the NIC on the wire, if there is a line rate.
    fn send_read(&mut self, now: Ps, read: u32) {
        let For::Transmit { packet, from, lines } = self.reads.under_way.get(read).purpose else {
            panic!("only packets are sent");
        };
        self.meters.domains.reading.leave(now, lines.into());
        let p = self.packets.get(packet);
        let ((_, bytes), queue) = (p.tx.expect("it has data"), p.queue);
        if from + lines == lines_in(bytes.into()) {
            self.data_at_nic(now, queue);
        }
        let Some(line) = &mut self.tx.line_rate else { return self.read_done(now, read) };
        let at = line.sends(now, bits_of_part(bytes, from, lines));
        self.meters.domains.sending.enter(now, lines.into());
        self.events.push(at, Event::ReadDone { read });
    }

    /// All data of a read is at the NIC and, for transmission, on the wire.
    pub(super) fn read_done(&mut self, now: Ps, read: u32) {
        let r = self.reads.under_way.remove(read);
        if let (For::Transmit { packet, from, lines }, Some(_)) = (r.purpose, &self.tx.line_rate) {
            // All of it is on the wire.
            let (_, bytes) = self.packets.get(packet).tx.expect("it has data");
            self.meters.domains.sent_bits += bits_of_part(bytes, from, lines);
            self.meters.domains.sending.leave(now, lines.into());
        }
        self.reads.lines.give_back(now, r.credits.into());
        self.reads.requests.give_back(now, r.requests.into());
        match r.purpose {
            For::Descriptors { queue, count } => {
                self.queues[queue as usize].rx.end_fetch(now, count, now - r.started);
                self.descriptors_arrived(now, queue);
                self.fetch_descriptors(now, queue as usize);
                self.receive(now);
            }
            For::TxDescriptors { queue, .. } => {
                let q = &mut self.queues[queue as usize].tx;
                q.end_fetch(now - r.started, r.on_link);
                if let Some(recording) = &mut self.recording {
                    recording.pass_all(q.ready().iter(), &[(Point::Descriptor, now)]);
                }
                self.tx.active.push_back(queue);
            }
            For::Transmit { packet, lines, .. } => {
                let p = self.packets.at(packet);
                p.unsent -= lines;
                if p.unsent == 0 {
                    let queue = p.queue;
                    if !self.one_by_one() {
                        self.data_at_nic(now, queue);
                    }
                    self.sent(now, packet);
                }
            }
            For::Bench { .. } => self.bench_read_done(now, now - r.started),
        }
        self.start_reads(now);
    }
}

/// Bits on the wire of some lines of a frame. Preamble and gap go with the last of them.
fn bits_of_part(bytes: u32, from: u32, lines: u32) -> u64 {
    if from + lines == lines_in(bytes.into()) {
        wire_bits(bytes - from * LINE_BYTES as u32)
    } else {
        u64::from(lines) * LINE_BYTES * 8
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{For, Host};
    use crate::testing::{forwarder, pcie_json};

    #[test]
    fn a_fetch_takes_as_many_requests_as_its_descriptors_need() {
        let mut pcie = pcie_json();
        (pcie["max_read_request"], pcie["non_posted_credits"]) = (json!("512 B"), json!(32));
        let scenario = forwarder(&[
            ("/machine/pcie", pcie),
            ("/machine/nic/descriptor_size", json!("64 B")),
            ("/machine/nic/descriptor_batch", json!(256)),
        ]);
        let host = Host::new(&scenario, None).unwrap();
        for (count, requests) in [(1, 1), (8, 1), (9, 2), (32, 4), (256, 32)] {
            assert_eq!(host.fetch_requests(For::Descriptors { queue: 0, count }), requests);
            assert_eq!(host.fetch_requests(For::TxDescriptors { queue: 0, count }), requests);
        }
    }
}
