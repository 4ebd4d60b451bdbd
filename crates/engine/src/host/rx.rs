//! The receive side of the NIC: from the wire through SRAM and descriptors to memory.

use std::collections::VecDeque;
use std::ops::Range;

use super::domains::DomainCounters;
use super::packets::Packet;
use super::timeline::Point;
use super::{Event, Host};
use crate::apps::App;
use crate::config::machine::Machine;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::nic::port::Port;
use crate::pcie::Link;
use crate::time::Ps;
use crate::wire::line_rate::LineRate;
use crate::wire::{Arrival, Source};

/// The receive engine.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    sram_bytes: u64,
    pub(super) sram_used: u64,
    /// Packets in SRAM, in order.
    fifo: VecDeque<u32>,
    /// Lines of the first packet that are already under way; `None` before it has a descriptor.
    sent_lines: Option<u32>,
    /// Lines of all of them that are not under way.
    unsent_lines: u64,
    line_credits: u32,
    pub(super) free_line_credits: u32,
    tlp_credits: u32,
    pub(super) free_tlp_credits: u32,
    pub(super) burst_lines: u32,
    pub(super) link: Option<Link>,
    /// Writes wait until the link is free, which is scheduled.
    wait_for_link: bool,
    /// The line rate of the network link, if it is a limit.
    line_rate: Option<LineRate>,
    /// The way of a NIC without a link.
    pub(super) port: Port,
    pub(super) write_latency: Ps,
    /// From then until the NIC has the credits of what is written.
    credit_return: Ps,
    descriptor_batch: u32,
    pub(super) completions_per_write: u32,
    /// Queues whose gathered completions are to be written now.
    pub(super) due: VecDeque<u16>,
    next_seq: u64,
}

impl Receiver {
    pub(super) fn new(machine: &Machine) -> Receiver {
        let pcie = machine.pcie.as_ref();
        Receiver {
            sram_bytes: machine.nic.sram.0,
            sram_used: 0,
            fifo: VecDeque::new(),
            sent_lines: None,
            unsent_lines: 0,
            line_credits: machine.nic.write_credits,
            free_line_credits: machine.nic.write_credits,
            tlp_credits: pcie.map_or(u32::MAX, |p| p.posted_credits),
            free_tlp_credits: pcie.map_or(u32::MAX, |p| p.posted_credits),
            burst_lines: machine.burst_lines(),
            link: pcie.map(Link::new),
            wait_for_link: false,
            line_rate: machine.nic.link.map(LineRate::new),
            port: Port::new(machine.core.frequency, &machine.noc),
            write_latency: machine.core.frequency.clock().at(machine.llc.latency_cycles.into()),
            credit_return: pcie.map_or(Ps::ZERO, |p| p.credit_return.ps()),
            descriptor_batch: machine.nic.descriptor_batch,
            completions_per_write: machine.nic.completions_per_write,
            due: VecDeque::new(),
            next_seq: 0,
        }
    }

    /// Line credits in use.
    pub(super) fn credits_used(&self) -> u32 {
        self.line_credits - self.free_line_credits
    }

    pub(super) fn credits(&self) -> u32 {
        self.line_credits
    }

    /// TLP credits in use.
    pub(super) fn tlp_credits_used(&self) -> u32 {
        self.tlp_credits - self.free_tlp_credits
    }

    pub(super) fn sram_bytes(&self) -> u64 {
        self.sram_bytes
    }

    /// Latency of a message from the NIC to the memory system that carries no data.
    pub(super) fn latency(&self) -> Ps {
        self.link.as_ref().map_or(self.port.latency(), Link::latency)
    }

    /// From when a write reaches the memory system until the NIC has its credits again, if it waits for nothing.
    pub(super) fn credit_latency(&self) -> Ps {
        self.write_latency + self.credit_return
    }

    /// A write of so many bytes, at most the maximum payload, leaves the NIC: when it reaches the
    /// memory system.
    pub(super) fn send(&mut self, now: Ps, bytes: u64) -> Ps {
        match &mut self.link {
            Some(link) => link.write(now, bytes),
            None => self.port.send(now, bytes),
        }
    }
}

impl Host {
    pub(super) fn schedule_arrival(&mut self) {
        if let Some(Source::Timed(arrivals)) = &mut self.source {
            let mut arrival = arrivals.next();
            arrival.bytes = self.frame_bytes(&arrival, self.queue_of(&arrival));
            if let Some(line) = &mut self.rx.line_rate {
                arrival.at = line.arrives(arrival.at, arrival.bytes);
            }
            self.next_arrival = Some(arrival);
            self.events.push(arrival.at, Event::Arrival);
        }
    }

    /// The queue of a packet of the traffic.
    fn queue_of(&self, arrival: &Arrival) -> u16 {
        self.rss.as_ref().expect("traffic has its queues").queue(arrival.flow) as u16
    }

    /// Bytes of the next packet, which goes to `queue`: its client's choice where the application has
    /// one, else the traffic's.
    fn frame_bytes(&self, arrival: &Arrival, queue: u16) -> u32 {
        let core = self.queues[queue as usize].core as usize;
        let app = &self.apps[self.cores[core].tenant.expect("a queue's core has a tenant")];
        app.request_bytes(self.rx.next_seq).unwrap_or(arrival.bytes)
    }

    pub(super) fn arrival(&mut self, now: Ps) {
        let arrival = self.next_arrival.take().expect("an arrival was scheduled");
        let queue = self.queue_of(&arrival);
        self.accept(now, arrival, queue);
        self.schedule_arrival();
    }

    /// Keeps the backlog of a queue at its depth. The generator watches the receive queue, from which a
    /// core takes a burst at a time, and never has more than two of them on their way through the NIC:
    /// what is missing beyond those follows when they have become visible. (More would wait in the NIC,
    /// which is not where the backlog is meant to be.)
    pub(super) fn top_up(&mut self, queue: usize) {
        let Some(Source::Backlog { depth, .. }) = self.source else { return };
        let on_their_way = 2 * self.scenario.queues.burst;
        let q = &self.queues[queue];
        let in_nic = q.backlog.saturating_sub(q.visible.len() as u32 + q.taken);
        for _ in 0..depth.saturating_sub(q.backlog).min(on_their_way.saturating_sub(in_nic)) {
            let mut arrival = self.draw_for(queue);
            self.queues[queue].backlog += 1;
            arrival.bytes = self.frame_bytes(&arrival, queue as u16);
            self.accept(self.events.now(), arrival, queue as u16);
        }
    }

    /// A packet of a queue's backlog, of its flows if it has any.
    fn draw_for(&mut self, queue: usize) -> Arrival {
        let Some(Source::Backlog { draw, .. }) = &mut self.source else {
            panic!("only a backlog is drawn for a queue")
        };
        let flows = self.rss.as_ref().expect("traffic has its queues").flows_of(queue as u32);
        let now = self.events.now();
        if flows.is_empty() { draw.draw(now) } else { draw.draw_among(now, flows) }
    }

    /// A packet is at the NIC.
    fn accept(&mut self, now: Ps, arrival: Arrival, queue: u16) {
        let seq = self.rx.next_seq;
        self.rx.next_seq += 1;
        match self.admit(now, arrival, queue, seq) {
            Some(_) => self.receive(now),
            None => self.lose_backlog(queue),
        }
    }

    /// Takes a packet into the SRAM; nothing if it is dropped because it finds no room.
    pub(super) fn admit(&mut self, now: Ps, arrival: Arrival, queue: u16, seq: u64) -> Option<u32> {
        let bytes = arrival.bytes;
        self.meters.offered += 1;
        self.queues[queue as usize].counts.offered += 1;
        self.meters.domains.frame(bytes);
        let sram = &mut self.meters.domains.sram;
        if self.rx.sram_used + u64::from(bytes) > self.rx.sram_bytes {
            self.meters.dropped_sram += 1;
            sram.starved.begin(now);
            if let Some(recording) = &mut self.recording {
                recording.not_admitted(now, seq, arrival.flow, queue);
            }
            return None;
        }
        self.rx.sram_used += u64::from(bytes);
        sram.used.enter(now, bytes.into());
        let packet = self.packets.add(Packet {
            seq,
            bytes,
            flow: arrival.flow,
            queue,
            buffer: None,
            in_ring: false,
            tx: None,
            zero_copy: false,
            arrived: now,
            dma_start: now,
            visible: now,
            begun: now,
            posted: now,
            ended: false,
            to_send: false,
            in_sram: true,
            unsent: 0,
        });
        if let Some(recording) = &mut self.recording {
            recording.arrived(packet, self.packets.get(packet));
        }
        self.meters.in_path += 1;
        self.rx.fifo.push_back(packet);
        self.rx.unsent_lines += u64::from(lines_in(bytes.into()));
        Some(packet)
    }

    fn lose_backlog(&mut self, queue: u16) {
        let q = &mut self.queues[queue as usize];
        q.backlog = q.backlog.saturating_sub(1);
    }

    /// The receive engine moves packets from SRAM as far as descriptors, link and credits allow.
    pub(super) fn receive(&mut self, now: Ps) {
        while self.write_completions(now) {
            let Some(&packet) = self.rx.fifo.front() else {
                if !self.gathered_are_due() {
                    return;
                }
                continue;
            };
            let sent = match self.rx.sent_lines {
                Some(sent) => sent,
                None => {
                    let queue = self.packets.get(packet).queue as usize;
                    if self.queues[queue].posted() == self.queues[queue].rung {
                        self.drop_without_descriptor(now, packet);
                        continue;
                    }
                    if self.queues[queue].fetched == 0 {
                        // The head of the line waits for its descriptor.
                        self.meters.domains.no_descriptor.begin(now);
                        if let Some(recording) = &mut self.recording {
                            recording.first(packet, now);
                        }
                        self.fetch_descriptors(queue);
                        if self.gathered_are_due() {
                            self.write_completions(now);
                        }
                        return;
                    }
                    let buffer = self.queues[queue].use_descriptor();
                    self.queues[queue].counts.rx.enter(now, 1);
                    self.meters.domains.no_descriptor.end(now);
                    let p = self.packets.at(packet);
                    (p.buffer, p.in_ring, p.dma_start) = (Some(buffer), true, now);
                    self.fetch_descriptors(queue);
                    0
                }
            };
            let p = self.packets.get(packet);
            let (bytes, queue) = (u64::from(p.bytes), p.queue);
            let all = lines_in(bytes);
            self.rx.sent_lines = Some(self.send_lines(now, packet, sent, bytes));
            if self.rx.sent_lines != Some(all) {
                return;
            }
            self.rx.sent_lines = None;
            self.rx.fifo.pop_front();
            self.gather_completion(queue, packet);
        }
    }

    /// Sends lines of a packet while link and credits allow it; returns how many are sent now.
    fn send_lines(&mut self, now: Ps, packet: u32, mut sent: u32, bytes: u64) -> u32 {
        let all = lines_in(bytes);
        let mut last = now;
        while sent < all {
            let lines = self.rx.burst_lines.min(all - sent);
            if !self.can_write(now, lines) {
                break;
            }
            let rest = bytes - u64::from(sent) * LINE_BYTES;
            let at = self.rx.send(now, rest.min(u64::from(lines) * LINE_BYTES));
            let (first, burst) = (sent as u16, lines as u8);
            self.events.push(at, Event::Write { packet, first, lines: burst });
            sent += lines;
            self.rx.unsent_lines -= u64::from(lines);
            last = at;
        }
        if sent == all
            && let Some(recording) = &mut self.recording
        {
            recording.pass(packet, &[(Point::Sent, now), (Point::AtMemory, last)]);
        }
        sent
    }

    /// Whether a write of so many lines can leave the NIC now, for which it then has taken the credits.
    ///
    /// They are taken by what goes on the link, not by what waits for it ("credits consumed" of a transmitter:
    /// PCI Express Base Specification 5.0, 2.6.1.2).
    pub(super) fn can_write(&mut self, now: Ps, lines: u32) -> bool {
        self.link_is_free(now) && self.take_credits(now, lines)
    }

    /// Whether the link has sent what it was given. If not, writes go on when it has; read requests go
    /// between them.
    fn link_is_free(&mut self, now: Ps) -> bool {
        let Some(link) = &self.rx.link else { return true };
        let at = link.free_at();
        let free = at <= now;
        if !free && !self.rx.wait_for_link {
            self.rx.wait_for_link = true;
            self.events.push(at, Event::LinkFree);
        }
        let lines = if free { 0 } else { self.lines_with_credits() };
        let waiting = &mut self.meters.domains.waiting_for_link;
        let before = waiting.inside();
        waiting.enter(now, lines);
        waiting.leave(now, before);
        free
    }

    /// Lines that wait to be written and for which there are credits.
    fn lines_with_credits(&self) -> u64 {
        let (unsent, next) = match (&self.bench, self.rx.fifo.front()) {
            (Some(bench), _) => (u64::MAX, bench.lines()),
            (None, Some(&packet)) => {
                (self.rx.unsent_lines, lines_in(self.packets.get(packet).bytes.into()))
            }
            // A completion.
            (None, None) => (1, 1),
        };
        let a_tlp = next.min(self.rx.burst_lines);
        let tlps = (self.rx.free_line_credits / a_tlp).min(self.rx.free_tlp_credits);
        unsent.min(u64::from(tlps * a_tlp))
    }

    /// The link has sent what it had been given when a write last waited for it.
    pub(super) fn link_free(&mut self, now: Ps) {
        self.rx.wait_for_link = false;
        self.go_on_writing(now);
    }

    /// What waits for link or credits is written as far as they allow it.
    fn go_on_writing(&mut self, now: Ps) {
        self.receive(now);
        if self.bench.is_some() {
            self.bench_start(now);
        }
    }

    fn take_credits(&mut self, now: Ps, lines: u32) -> bool {
        let DomainCounters { write_lines, write_tlps, .. } = &mut self.meters.domains;
        let (no_line, no_tlp) = (self.rx.free_line_credits < lines, self.rx.free_tlp_credits == 0);
        if no_line || no_tlp {
            if no_line {
                write_lines.starved.begin(now);
            }
            if no_tlp {
                write_tlps.starved.begin(now);
            }
            return false;
        }
        write_lines.used.enter(now, lines.into());
        write_lines.starved.end(now);
        write_tlps.used.enter(now, 1);
        write_tlps.starved.end(now);
        self.rx.free_line_credits -= lines;
        self.rx.free_tlp_credits -= 1;
        true
    }

    fn drop_without_descriptor(&mut self, now: Ps, packet: u32) {
        let p = *self.packets.get(packet);
        if let Some(recording) = &mut self.recording {
            recording.no_descriptor(now, packet, &p);
        }
        self.rx.sram_used -= u64::from(p.bytes);
        self.meters.leave_sram(now, p.bytes.into());
        self.meters.dropped_no_descriptor += 1;
        self.meters.domains.no_descriptor.begin(now);
        self.meters.in_path -= 1;
        self.lose_backlog(p.queue);
        self.drop_datagram(packet);
        self.rx.fifo.pop_front();
        self.rx.unsent_lines -= u64::from(lines_in(p.bytes.into()));
        self.packets.remove(packet);
    }

    /// The driver posts what it has, and rings for it.
    pub(super) fn ring_rx(&mut self, now: Ps, queue: u16) {
        let q = &mut self.queues[queue as usize];
        let descriptors = q.post();
        if descriptors > 0 {
            q.rung += descriptors;
            let at = now + self.rx.latency();
            self.events.push(at, Event::ReceiveDoorbell { queue, descriptors });
        }
    }

    /// The driver's doorbell for receive descriptors is at the NIC.
    pub(super) fn receive_doorbell(&mut self, now: Ps, queue: u16, descriptors: u32) {
        let q = &mut self.queues[queue as usize];
        q.rung -= descriptors;
        q.counts.rx.leave(now, descriptors.into());
        q.counts.unfetched.enter(now, descriptors.into());
        self.fetch_descriptors(queue as usize);
        self.receive(now);
    }

    /// The NIC fetches descriptors of a queue ahead of their use.
    pub(super) fn fetch_descriptors(&mut self, queue: usize) {
        let batch = self.rx.descriptor_batch;
        let q = &mut self.queues[queue];
        let ready = q.posted() - q.fetched - q.rung;
        if q.fetching || ready == 0 || q.fetched >= batch {
            return;
        }
        q.fetching = true;
        let n = ready.min(batch);
        self.start_fetch(queue as u16, n);
    }

    /// Lines of a packet reach the memory system.
    pub(super) fn write(&mut self, now: Ps, packet: u32, first: u16, lines: u8) {
        let p = self.packets.get(packet);
        let buffer = p.buffer.expect("a packet on its way has a buffer");
        let base = self.queues[p.queue as usize].data(buffer) + u32::from(first);
        self.io_write(now, base..base + u32::from(lines), LineKind::Rx);
    }

    /// A DMA write of some lines reaches the memory system. The credits of lines that are in a cache
    /// or in the queue of their channel return at once; those of the others when that has them.
    pub(super) fn io_write(&mut self, now: Ps, lines: Range<Line>, kind: LineKind) {
        let all = lines.len();
        self.meters.io_lines += all as u64;
        let done = lines.filter(|&line| self.memory.io_write(now, line, kind, true)).count();
        self.meters.domains.late.enter(now, (all - done) as u64);
        let credits = Event::Credits { lines: done as u16, tlps: 1 };
        self.events.push(now + self.rx.credit_latency(), credits);
    }

    pub(super) fn credits(&mut self, now: Ps, lines: u16, tlps: u8) {
        let DomainCounters { write_lines, write_tlps, .. } = &mut self.meters.domains;
        write_lines.used.leave(now, lines.into());
        write_tlps.used.leave(now, tlps.into());
        self.rx.free_line_credits += u32::from(lines);
        self.rx.free_tlp_credits += u32::from(tlps);
        self.go_on_writing(now);
    }

    pub(super) fn visible(&mut self, now: Ps, packet: u32) {
        let p = self.packets.at(packet);
        p.visible = now;
        let queue = p.queue as usize;
        self.queues[queue].visible.push_back(packet);
        let core = self.queues[queue].core;
        self.wake(core);
        self.top_up(queue);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, pcie_json, results};

    fn mean_ns(results: &Results, stage: &str) -> f64 {
        let latency = results.latency.iter().find(|l| l.stage == stage);
        latency.expect("packets passed it").distribution.mean_ns
    }

    fn of<'a>(results: &'a Results, name: &str) -> &'a Domain {
        results.domains.iter().find(|d| d.domain == name).expect("a domain of the run")
    }

    #[test]
    fn what_waits_for_a_busy_link_holds_no_credits() {
        let with = |credits: u32| {
            let bench = json!({ "direction": "write", "size": "256 B", "window": "4 KiB" });
            results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/pcie/posted_credits", json!(64)),
                ("/machine/nic/write_credits", json!(credits)),
                ("/traffic", Value::Null),
                ("/tenants", json!([])),
                ("/dma_bench", bench),
            ]))
        };
        for credits in [128, 256] {
            let r = with(credits);
            let io = r.io.as_ref().expect("it writes");
            // 280 bytes at 113.7 Gbit/s, 200 ns to the memory system, 30 cycles at 2 GHz in the LLC, 100 ns back.
            let held_ns = 280.0 * 8.0 / 113.7 + 200.0 + 15.0 + 100.0;
            let latency = io.write_latency_ns.expect("it writes");
            assert!((latency / held_ns - 1.0).abs() < 0.01, "{latency} ns, by hand {held_ns}");
            // Little's law: 256 bytes every 19.7 ns.
            let used = held_ns * 4.0 / (280.0 * 8.0 / 113.7);
            assert!((io.write_credits_used / used - 1.0).abs() < 0.02, "{}", io.write_credits_used);
            assert_eq!(of(&r, "io-credits").starved_ps, 0);
            // All others could be taken.
            let waiting = of(&r, "pcie").holds_writes_ps as f64 / 1e3 / r.measured_ns;
            let free = f64::from(credits) - io.write_credits_used;
            assert!((waiting / free - 1.0).abs() < 0.03, "{waiting} of {free}");
        }
    }

    #[test]
    fn read_requests_go_between_the_writes_that_wait_for_the_link() {
        let read_ns = |rate: &str| {
            let r = results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/write_credits", json!(1024)),
                ("/traffic/rate", json!(rate)),
            ]));
            let tags = of(&r, "read-tags");
            (tags.busy_ps as f64 / 1e3 / tags.uses as f64, of(&r, "pcie").holds_writes_ps)
        };
        let ((idle, _), (busy, waiting)) = (read_ns("0.2 Mpps"), read_ns("40 Mpps"));
        assert!(waiting > 0);
        assert!(busy < idle + 60.0, "{busy:.0} and {idle:.0} ns");
    }

    #[test]
    fn descriptors_whose_doorbell_is_under_way_are_not_there_yet() {
        // Core 0 takes 1.5 us a packet and is short of descriptors; the other one is fast.
        let tenant = |name: &str, first: u32, instructions: u32| {
            json!({
                "name": name, "cores": { "first": first, "count": 1 },
                "app": { "kind": "l2fwd", "packet_instructions": instructions }
            })
        };
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/traffic/rate", json!("3 Mpps")),
            ("/queues/burst", json!(1)),
            ("/tenants", json!([tenant("slow", 0, 12_000), tenant("fast", 1, 10)])),
        ]));
        assert!(r.packets.dropped_no_descriptor > 100, "{:?}", r.packets);
        // All that the NIC waits for is the fetch of those that are.
        assert!(mean_ns(&r, "nic") < 60.0, "{} ns", mean_ns(&r, "nic"));
    }

    #[test]
    fn completions_do_not_wait_for_the_descriptor_of_the_next_packet() {
        let of = |batch: Value, completions: Value| {
            results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/descriptor_batch", batch),
                ("/machine/nic/completions_per_write", completions),
                ("/traffic/sizes/size", json!("64 B")),
                ("/traffic/rate", json!("3.5 Mpps")),
            ]))
        };
        // One descriptor at a time: packets wait for theirs, and the NIC has nothing else to do.
        let (alone, gathered) = (of(json!(1), json!(1)), of(json!(1), json!(8)));
        let (alone, gathered) = (mean_ns(&alone, "dma"), mean_ns(&gathered, "dma"));
        assert!(gathered < 1.1 * alone, "{gathered:.0} ns, {alone:.0} one by one");
    }
}
