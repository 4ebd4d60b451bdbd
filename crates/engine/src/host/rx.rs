//! The receive side of the NIC: from its SRAM through descriptors to memory.

use std::collections::VecDeque;

use super::backlog::WithoutRoom;
use super::credits::Credits;
use super::timeline::Point;
use super::{Event, Host};
use crate::config::machine::Machine;
use crate::frame::wire_bits;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::memory::line_set::LineSet;
use crate::memory::placement::DmaWrite;
use crate::nic::config::Queues;
use crate::nic::packet_engine::PacketEngine;
use crate::stats::occupancy::Occupancy;
use crate::time::Ps;
use crate::transport::telemetry::Hop;
use crate::wire::line_rate::LineRate;

/// The receive engine; `arrivals.rs` fills its SRAM.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// Bytes of the NIC's input SRAM.
    pub(super) sram: Credits,
    /// Bits on the wire of all packets that have left it since the run began.
    left_bits: u64,
    /// What takes packets out of the SRAM.
    pub(super) engine: PacketEngine,
    /// Packets in SRAM, in order.
    pub(super) fifo: VecDeque<u32>,
    /// Lines of the first packet that have been sent; `None` before it has a descriptor.
    pub(super) sent_lines: Option<u32>,
    /// Lines of receive buffers that packets have been written to since the run began.
    pub(super) written: LineSet,
    /// The line rate of the network link, if it is a limit.
    pub(super) line_rate: Option<LineRate>,
    descriptor_batch: u32,
    /// Completions that are written at once when that many have gathered: no more than a ring has descriptors.
    pub(super) completions_per_write: u32,
    /// Queues whose gathered completions are due to be written.
    pub(super) due: VecDeque<u16>,
    /// Completions that wait for others of their queue, and are not due.
    pub(super) gathered: Occupancy,
    pub(super) without_room: WithoutRoom,
    pub(super) next_seq: u64,
}

impl Receiver {
    pub(super) fn new(machine: &Machine, queues: &Queues) -> Receiver {
        Receiver {
            sram: Credits::new(machine.nic.sram.0),
            left_bits: 0,
            engine: PacketEngine::new(machine.nic.packet_rate),
            fifo: VecDeque::new(),
            sent_lines: None,
            written: LineSet::default(),
            line_rate: machine.nic.link.map(LineRate::new),
            descriptor_batch: machine.nic.descriptor_batch,
            completions_per_write: machine.nic.completions_per_write.min(queues.rx_descriptors),
            due: VecDeque::new(),
            gathered: Occupancy::default(),
            without_room: WithoutRoom::default(),
            next_seq: 0,
        }
    }

    /// Whether the SRAM has room for a packet. If not, something waits until the next one leaves.
    pub(super) fn has_room(&mut self, now: Ps, bytes: u32) -> bool {
        let room = self.sram.free() >= u64::from(bytes);
        if !room {
            self.sram.begin_waiting(now);
        }
        room
    }

    /// The completions that a queue has gathered are due to be written.
    pub(super) fn are_due(&mut self, now: Ps, queue: u16, gathered: u32) {
        self.gathered.leave(now, gathered.into());
        self.due.push_back(queue);
    }

    /// A packet of some lines is written to a buffer whose data begin at `first`.
    fn write_to(&mut self, first: Line, lines: u32) {
        // Every packet begins there, so if its last line has been written, all of its lines have.
        if !self.written.holds(first + lines - 1) {
            self.written.insert_all(first..first + lines);
        }
    }

    /// What the SRAM tells of itself.
    pub(super) fn hop(&self, now: Ps) -> Hop {
        Hop { at: now, sent_bits: self.left_bits, queue_bits: 8 * self.sram.in_use() }
    }

    /// A packet leaves the SRAM.
    pub(super) fn leave_sram(&mut self, now: Ps, bytes: u32) {
        self.left_bits += wire_bits(bytes);
        self.sram.give_back(now, bytes.into());
        self.sram.end_waiting(now);
    }
}

impl Host {
    /// The receive engine moves packets out of the SRAM as far as descriptors, link and credits allow.
    pub(super) fn receive(&mut self, now: Ps) {
        while self.write_completions(now) {
            let Some(&packet) = self.rx.fifo.front() else {
                if !self.gathered_are_due(now) {
                    return;
                }
                continue;
            };
            if self.rx.sent_lines.is_none() {
                if !self.rx.engine.is_free(now) {
                    let again = self.rx.engine.ask_again();
                    again.into_iter().for_each(|at| self.events.push(at, Event::NextReceived));
                    return;
                }
                let queue = self.packets.get(packet).queue as usize;
                let q = &mut self.queues[queue].rx;
                if q.known() == 0 {
                    self.drop_without_descriptor(now, packet);
                    continue;
                }
                if q.fetched() == 0 {
                    // The packet at the head of the SRAM waits for its descriptor.
                    q.counts.starved.begin(now);
                    self.meters.domains.unread_descriptor.begin(now);
                    if let Some(recording) = &mut self.recording {
                        recording.first(packet, now);
                    }
                    self.fetch_descriptors(now, queue);
                    if self.gathered_are_due(now) {
                        self.write_completions(now);
                    }
                    return;
                }
                let buffer = q.use_descriptor(now);
                self.rx.engine.begin(now);
                self.meters.domains.unread_descriptor.end(now);
                let p = self.packets.at(packet);
                (p.buffer, p.in_ring, p.dma_start) = (Some(buffer), true, now);
                self.rx.sent_lines = Some(0);
                let lines = lines_in(p.bytes.into());
                self.rx.write_to(self.line_received(packet, 0), lines);
                self.fetch_descriptors(now, queue);
            }
            if !self.send_lines(now, packet) {
                return;
            }
            self.rx.sent_lines = None;
            self.rx.fifo.pop_front();
            self.gather_completion(now, self.packets.get(packet).queue, packet);
        }
    }

    /// Sends lines of the first packet while link and credits allow it. Returns whether all of them
    /// have been sent.
    fn send_lines(&mut self, now: Ps, packet: u32) -> bool {
        let bytes = u64::from(self.packets.get(packet).bytes);
        let all = lines_in(bytes);
        let mut last = now;
        while let Some(sent) = self.rx.sent_lines.filter(|&sent| sent < all) {
            let lines = self.writes.burst_lines.min(all - sent);
            if !self.can_write(now, lines) {
                return false;
            }
            let rest = bytes - u64::from(sent) * LINE_BYTES;
            let at = self.interconnect.write(now, rest.min(u64::from(lines) * LINE_BYTES));
            let (first, burst) = (sent as u16, lines as u8);
            self.events.push(at, Event::Write { packet, first, lines: burst });
            let line = self.line_received(packet, first);
            (line..line + lines).for_each(|line| self.memory.caches.load_home_ahead(line));
            self.rx.sent_lines = Some(sent + lines);
            last = at;
        }
        if let Some(recording) = &mut self.recording {
            recording.pass(packet, &[(Point::Sent, now), (Point::AtMemory, last)]);
        }
        true
    }

    fn drop_without_descriptor(&mut self, now: Ps, packet: u32) {
        let p = *self.packets.get(packet);
        if let Some(recording) = &mut self.recording {
            recording.no_descriptor(now, packet, &p);
        }
        self.rx.engine.begin(now);
        self.rx.leave_sram(now, p.bytes);
        self.meters.dropped_no_descriptor += 1;
        self.meters.dropped_bytes += u64::from(p.bytes);
        self.meters.in_path -= 1;
        self.queues[p.queue as usize].rx.drop_packet(now);
        self.drop_datagram(packet);
        self.rx.fifo.pop_front();
        self.packets.remove(packet);
    }

    /// The driver rings the doorbell for the descriptors of a burst: together with earlier ones
    /// that had no buffer, they are posted as far as there are buffers.
    pub(super) fn ring_rx(&mut self, now: Ps, queue: u16, burst: u32) {
        let descriptors = self.queues[queue as usize].rx.ring(burst);
        if descriptors > 0 {
            let at = now + self.interconnect.latency();
            self.events.push(at, Event::ReceiveDoorbell { queue, descriptors });
        }
    }

    /// Whether the next packet to leave the SRAM, none of which has left, is of this queue.
    fn is_first(&self, queue: u16) -> bool {
        let first = self.rx.fifo.front().filter(|_| self.rx.sent_lines.is_none());
        first.is_some_and(|&packet| self.packets.get(packet).queue == queue)
    }

    /// Descriptors of a queue are at the NIC. If a packet waits for one, it does so no longer, whatever it waits for
    /// until it goes on the link.
    pub(super) fn descriptors_arrived(&mut self, now: Ps, queue: u16) {
        if self.is_first(queue) {
            self.queues[queue as usize].rx.counts.starved.end(now);
            self.meters.domains.unread_descriptor.end(now);
        }
    }

    /// The driver's doorbell for receive descriptors reaches the NIC.
    pub(super) fn receive_doorbell(&mut self, now: Ps, queue: u16, descriptors: u32) {
        self.queues[queue as usize].rx.doorbell(now, descriptors);
        self.fetch_descriptors(now, queue as usize);
        self.receive(now);
        if !self.is_first(queue) {
            // Packets that found no descriptor have been dropped, and none waits for one.
            self.queues[queue as usize].rx.counts.starved.end(now);
        }
        self.top_up(now, queue as usize);
    }

    /// The NIC fetches descriptors of a queue ahead of their use.
    pub(super) fn fetch_descriptors(&mut self, now: Ps, queue: usize) {
        let batch = self.rx.descriptor_batch;
        if let Some(count) = self.queues[queue].rx.begin_fetch(batch) {
            self.start_fetch(now, queue as u16, count);
        }
    }

    /// Lines of a packet reach the memory system.
    pub(super) fn write(&mut self, now: Ps, packet: u32, first: u16, lines: u8) {
        let (line, index) = (self.line_received(packet, first), u32::from(first));
        let reader = Some(self.queues[self.packets.get(packet).queue as usize].reader());
        self.io_write(now, DmaWrite { line, kind: LineKind::Rx, index, reader }, lines.into());
    }

    /// Where a line of a packet goes: into its receive buffer.
    pub(super) fn line_received(&self, packet: u32, index: u16) -> Line {
        let p = self.packets.get(packet);
        let buffer = p.buffer.expect("a packet on its way has a buffer");
        self.queues[p.queue as usize].rx.layout.data(buffer) + u32::from(index)
    }

    pub(super) fn visible(&mut self, now: Ps, packet: u32) {
        let p = self.packets.at(packet);
        p.visible = now;
        let queue = p.queue as usize;
        self.queues[queue].rx.show(now, packet);
        let core = self.queues[queue].core;
        self.wake(now, core);
        self.top_up(now, queue);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::Host;
    use crate::nic::queue::QueuePair;
    use crate::stats::results::Results;
    use crate::testing::{forwarder, pcie_json, results};
    use crate::time::Ps;

    fn mean_ns(results: &Results, stage: &str) -> f64 {
        let latency = results.latency.iter().find(|l| l.stage == stage);
        latency.expect("packets passed it").distribution.mean_ns
    }

    /// A core that spends `instructions` on each packet, and a fast one.
    fn slow_and_fast(instructions: u32) -> Value {
        let tenant = |name: &str, first: u32, instructions: u32| {
            json!({
                "name": name, "cores": { "first": first, "count": 1 },
                "app": { "kind": "l2fwd", "packet_instructions": instructions }
            })
        };
        json!([tenant("slow", 0, instructions), tenant("fast", 1, 10)])
    }

    #[test]
    fn descriptors_whose_doorbell_is_under_way_are_not_there_yet() {
        // Core 0 takes 1.5 us a packet and is short of descriptors; the other one is fast.
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/traffic/rate", json!("3 Mpps")),
            ("/queues/burst", json!(1)),
            ("/tenants", slow_and_fast(12_000)),
        ]));
        assert!(r.packets.dropped_no_descriptor > 100, "{:?}", r.packets);
        // The NIC waits only for the fetch of descriptors that have been rung for. A doorbell takes another
        // 200 ns.
        let fetches = r.domains.iter().find(|d| d.domain == "rx-fetches").expect("a domain");
        let fetch_ns = fetches.busy_ps as f64 / 1e3 / fetches.uses as f64;
        let nic = r.latency.iter().find(|l| l.stage == "nic").expect("packets passed it");
        let (percent, wait_ns) = nic.distribution.percentiles_ns[2];
        assert_eq!(percent, 99.0);
        assert!(wait_ns < 1.1 * fetch_ns, "{wait_ns} ns, a fetch {fetch_ns}");
    }

    #[test]
    fn a_packet_waits_for_a_descriptor_until_one_of_its_queue_arrives() {
        let mut host = Host::new(
            &forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/descriptor_batch", json!(1)),
                ("/traffic/flows", json!(1)),
                ("/traffic/rate", json!("20 Mpps")),
                ("/traffic/sizes/size", json!("64 B")),
            ]),
            None,
        )
        .unwrap();
        let waits = |host: &Host, now: Ps| {
            let of = |q: &QueuePair| {
                q.rx.counts.starved.time(now + Ps(1)) > q.rx.counts.starved.time(now)
            };
            host.queues.iter().position(of)
        };
        let found = (0..10_000).map(Ps::from_ns).find_map(|now| {
            host.run_until(now);
            Some((now, waits(&host, now)?))
        });
        let (now, queue) = found.expect("a packet waits");
        host.descriptors_arrived(now, 1 - queue as u16);
        assert_eq!(waits(&host, now), Some(queue));
        host.descriptors_arrived(now, queue as u16);
        assert_eq!(waits(&host, now), None);
    }

    /// In many turns every buffer has held one of the few large packets.
    #[test]
    fn buffers_keep_the_lines_of_the_largest_packet_that_they_have_held() {
        let of = |larger: &str| {
            let size = |bytes: &str, weight: u32| json!({ "size": bytes, "weight": weight });
            let sizes = json!({ "kind": "mix", "of": [size("60 B", 3), size(larger, 1)] });
            let r = results(&forwarder(&[
                ("/traffic/sizes", sizes),
                ("/queues/pool", json!("ring")),
                ("/run/duration", json!("3 ms")),
            ]));
            r.io.and_then(|io| io.rx_footprint_lines)
        };
        let buffers = 2 * 128;
        assert_eq!((of("64 B"), of("1000 B")), (Some(buffers), Some(buffers * 16)));
    }

    /// Descriptors of other queues are of no use to a queue that has none.
    #[test]
    fn a_queue_that_is_always_short_is_starved_all_the_time() {
        let r = results(&forwarder(&[
            ("/traffic/rate", json!("4 Mpps")),
            ("/queues/rx_descriptors", json!(64)),
            ("/tenants", slow_and_fast(400_000)),
            ("/run/duration", json!("1 ms")),
        ]));
        let full = r.queues[0].rx_busy_ps as f64 / 64e3 / r.measured_ns;
        assert!(full > 0.99 && r.queues[1].rx_busy_ps * 10 < r.queues[0].rx_busy_ps, "{full}");
        let descriptors = r.domains.iter().find(|d| d.domain == "descriptors").expect("a domain");
        let share = descriptors.starved_ps as f64 / 1e3 / r.measured_ns;
        assert!((0.98..=1.0).contains(&share), "{share} of the time");
    }

    /// A burst ends before the measured time begins, and most of it is dropped in that time.
    #[test]
    fn no_more_than_all_is_dropped() {
        let traffic = json!({
            "kind": "bursts", "rate": "10 Mpps", "on": "100 us", "off": "10 ms", "flows": 64,
            "sizes": { "kind": "fixed", "size": "1024 B" }
        });
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/sram", json!("1 MiB")),
            ("/machine/nic/write_credits", json!(8)),
            ("/traffic", traffic),
            ("/tenants/0/app", json!({ "kind": "l2fwd", "packet_instructions": 120_000 })),
        ]));
        let p = &r.packets;
        assert!(p.dropped_no_descriptor > 100 && p.completed > 10 && p.offered == 0, "{p:?}");
        let share = p.dropped_no_descriptor as f64 / (p.dropped_no_descriptor + p.completed) as f64;
        assert_eq!((p.drop_share, p.dropped_bytes_share), (share, share));
    }

    /// Descriptors run short at the end of a burst, and come back soon after it.
    #[test]
    fn nothing_starves_for_descriptors_once_they_are_back() {
        let traffic = json!({
            "kind": "bursts", "rate": "200 Mpps", "on": "5 us", "off": "95 us", "flows": 64,
            "sizes": { "kind": "fixed", "size": "64 B" }
        });
        let r = results(&forwarder(&[
            ("/traffic", traffic),
            ("/queues/rx_descriptors", json!(16)),
            ("/run/duration", json!("2 ms")),
        ]));
        assert!(r.packets.dropped_no_descriptor > 100, "{:?}", r.packets);
        let descriptors = r.domains.iter().find(|d| d.domain == "descriptors").expect("a domain");
        let share = descriptors.starved_ps as f64 / 1e3 / r.measured_ns;
        assert!((0.001..0.2).contains(&share), "{share} of the time");
    }

    #[test]
    fn the_packet_rate_limits_small_packets_and_fills_the_sram() {
        let of = |limit: Option<&str>, rate: &str| {
            results(&forwarder(&[
                ("/machine/nic/packet_rate", json!(limit)),
                ("/machine/nic/sram", json!("4 KiB")),
                ("/traffic/sizes/size", json!("64 B")),
                ("/traffic/rate", json!(rate)),
                ("/run/duration", json!("1 ms")),
            ]))
        };
        let (free, full) = (of(None, "3 Mpps"), of(Some("2 Mpps"), "3 Mpps"));
        assert_eq!(free.packets.dropped_sram + free.packets.dropped_no_descriptor, 0);
        assert!((full.packets.completed_mpps / 2.0 - 1.0).abs() < 2e-3, "{:?}", full.packets);
        // One of three packets finds the SRAM full; the others find 63 before them, for half a microsecond each.
        assert!((full.packets.drop_share - 1.0 / 3.0).abs() < 0.02, "{:?}", full.packets);
        let waits_ns = mean_ns(&full, "nic");
        assert!((waits_ns / 31_500.0 - 1.0).abs() < 0.02, "{waits_ns} ns");
        let engine = |r: &Results| {
            let found = r.domains.iter().find(|d| d.domain == "packet-engine");
            found.map(|d| [d.busy_ps, d.starved_ps].map(|ps| ps as f64 / 1e3 / r.measured_ns))
        };
        assert_eq!(engine(&free), None);
        assert!(engine(&full).unwrap().iter().all(|&share| share > 0.999), "{:?}", engine(&full));
        // With some room, it is used for as long as its packets take.
        let [busy, waiting] = engine(&of(Some("4 Mpps"), "3 Mpps")).unwrap();
        assert!((busy - 0.75).abs() < 0.02 && (0.01..0.75).contains(&waiting), "{busy}, {waiting}");
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
