//! Transmission: from the driver's doorbell to the packet on the wire.
//!
//! A packet is read in requests of at most `pcie.max_read_request`, each sent when there are credits for it.
//!
//! Without `tx_descriptor_batch`, packets are read in the order of their doorbells, each with its
//! descriptor. With it, the driver rings once per burst, and the NIC reads up to that many posted
//! descriptors of a queue at a time. It reads the next ones of a queue only when it has the data of
//! all packets before them: a queue that is alone leaves the link idle for two round trips, of that
//! read and of the first data, less what the NIC still has to send. Several queues cover for each other.

use std::collections::VecDeque;

use super::reads::For;
use super::timeline::Point;
use super::{Event, Host};
use crate::config::machine::Machine;
use crate::memory::line::{Line, LineKind, lines_in};
use crate::memory::placement::DmaWrite;
use crate::nic::packet_engine::PacketEngine;
use crate::time::Ps;
use crate::wire::line_rate::LineRate;

/// The transmit engine: what waits to be sent.
#[derive(Clone, Debug)]
pub(super) struct Transmitter {
    /// Lines already requested of the packet whose turn it is.
    asked: u32,
    /// What begins to read the next packet.
    pub(super) engine: PacketEngine,
    pub(super) descriptor_batch: Option<u32>,
    /// Packets that wait for credits, when each descriptor is read with its packet's data.
    fifo: VecDeque<u32>,
    /// Queues with packets whose descriptors have been read: they take turns, a packet each.
    pub(super) active: VecDeque<u16>,
    /// The line rate of the network link, if it is a limit.
    pub(super) line_rate: Option<LineRate>,
    /// Packets that the driver has posted and the NIC has not sent.
    pub(super) in_flight: u64,
    /// Packets whose request has ended and that wait in software until the driver posts them.
    pub(super) unposted: u64,
}

impl Transmitter {
    pub(super) fn new(machine: &Machine) -> Transmitter {
        Transmitter {
            asked: 0,
            engine: PacketEngine::new(machine.nic.packet_rate),
            descriptor_batch: machine.nic.tx_descriptor_batch,
            fifo: VecDeque::new(),
            active: VecDeque::new(),
            line_rate: machine.nic.link.map(LineRate::new),
            in_flight: 0,
            unposted: 0,
        }
    }

    /// Packets that wait to be sent.
    pub(super) fn unsent(&self) -> u64 {
        self.in_flight + self.unposted
    }
}

impl Host {
    /// The driver has posted a packet for transmission.
    pub(super) fn post_tx(&mut self, now: Ps, packet: u32) {
        let p = self.packets.at(packet);
        if p.ended {
            self.tx.unposted -= 1;
        } else {
            p.to_send_since = now;
        }
        p.unsent = lines_in(p.tx.expect("a posted packet has its data").1.into());
        if let Some(recording) = &mut self.recording {
            recording.pass(packet, &[(Point::Posted, now)]);
        }
        let queue = p.queue;
        self.tx.in_flight += 1;
        self.queues[queue as usize].tx.post(packet);
    }

    /// The driver rings the doorbell for this many packets that it has posted. More may have been
    /// posted behind them since: their doorbell still waits behind their stores.
    pub(super) fn ring_tx(&mut self, now: Ps, queue: u16, packets: u32) {
        self.queues[queue as usize].tx.ring(packets);
        let at = now + self.interconnect.latency();
        self.events.push(at, Event::TransmitDoorbell { queue, packets });
    }

    /// The driver's doorbell for packets reaches the NIC.
    pub(super) fn transmit_doorbell(&mut self, now: Ps, queue: u16, packets: u32) {
        let q = &mut self.queues[queue as usize].tx;
        let announced = q.doorbell(now, packets);
        if let Some(recording) = &mut self.recording {
            recording.pass_all(announced, &[(Point::Doorbell, now)]);
        }
        if self.tx.descriptor_batch.is_some() {
            self.fetch_tx_descriptors(now, queue);
        } else {
            self.tx.fifo.extend(q.take_known());
        }
        self.start_reads(now);
    }

    /// Fetches the next descriptors of a queue if the NIC has the data of all packets whose descriptors
    /// it has read.
    fn fetch_tx_descriptors(&mut self, now: Ps, queue: u16) {
        let Some(batch) = self.tx.descriptor_batch else { return };
        if let Some(count) = self.queues[queue as usize].tx.begin_fetch(now, batch) {
            self.reads.fetches.push_back(For::TxDescriptors { queue, count });
        }
    }

    /// Starts the reads that credits allow.
    pub(super) fn start_reads(&mut self, now: Ps) {
        loop {
            while let Some(&fetch) = self.reads.fetches.front() {
                let requests = self.fetch_requests(fetch);
                if !self.can_read(now, 0, requests) {
                    // Nothing passes it, or it might never find enough free requests.
                    return;
                }
                self.reads.fetches.pop_front();
                self.start_read(now, fetch, 0, requests);
            }
            let turn = self.tx.active.front().copied();
            let next = match turn {
                Some(queue) => self.queues[queue as usize].tx.ready().front(),
                None => self.tx.fifo.front(),
            };
            let Some(&packet) = next else { return };
            if self.tx.asked == 0 && !self.tx.engine.is_free(now) {
                let again = self.tx.engine.ask_again();
                again.into_iter().for_each(|at| self.events.push(at, Event::NextSent));
                return;
            }
            let (_, bytes) = self.packets.get(packet).tx.expect("a posted packet has its data");
            let (from, all) = (self.tx.asked, lines_in(bytes.into()));
            let lines = self.reads.request_lines.min(all - from);
            // A descriptor that has not been read takes a request of its own.
            let descriptor = u32::from(from == 0 && self.tx.descriptor_batch.is_none());
            let requests = descriptor + 1;
            if !self.can_read(now, lines, requests) {
                return;
            }
            if from == 0 {
                self.tx.engine.begin(now);
            }
            self.start_read(now, For::Transmit { packet, from, lines }, lines, requests);
            self.tx.asked += lines;
            if self.tx.asked < all {
                continue;
            }
            self.tx.asked = 0;
            let queue = self.packets.get(packet).queue;
            self.queues[queue as usize].tx.requested(now);
            match turn {
                Some(queue) => self.end_turn(queue),
                None => {
                    self.tx.fifo.pop_front();
                }
            }
        }
    }

    /// A queue's turn is over: the NIC has requested all data of its first packet.
    fn end_turn(&mut self, queue: u16) {
        self.tx.active.pop_front();
        if self.queues[queue as usize].tx.end_turn() {
            self.tx.active.push_back(queue);
        }
    }

    /// All data of a packet of this queue is at the NIC.
    pub(super) fn data_at_nic(&mut self, now: Ps, queue: u16) {
        if self.tx.descriptor_batch.is_some() {
            self.queues[queue as usize].tx.data_at_nic(now);
            self.fetch_tx_descriptors(now, queue);
        }
    }

    /// The NIC has read and sent a packet, and so is done with its buffer, too.
    pub(super) fn sent(&mut self, now: Ps, packet: u32) {
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
            let data = q.rx.layout.data(p.buffer.expect("a packet sent in place has a buffer"));
            self.memory.sweep(data, lines_in(u64::from(p.bytes)));
        }
        let (completion, core) = (q.tx.packet_sent(p.buffer.filter(|_| p.zero_copy)), q.core);
        let p = self.packets.at(packet);
        p.to_send = false;
        p.buffer = p.buffer.filter(|_| !p.zero_copy);
        if p.ended {
            self.packets.remove(packet);
        }
        if let Some(line) = completion {
            self.dma_arrives(now, Event::TransmitComplete { core, line });
        }
    }

    /// The completion of transmitted packets reaches the memory system.
    pub(super) fn complete_transmit(&mut self, now: Ps, core: u16, line: Line) {
        let queue = self.queue_of_core(core);
        let queue = &mut self.queues[queue as usize];
        queue.tx.sent_reported();
        let reader = Some(queue.reader());
        let write = DmaWrite { line, kind: LineKind::Descriptor, index: 0, reader };
        self.memory.io_write(now, write, false);
        self.meters.io_lines += 1;
        self.wake(now, core);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::host::Host;
    use crate::stats::results::Results;
    use crate::testing::{forwarder, pcie_json, results};
    use crate::time::Ps;

    #[test]
    fn writes_do_not_wait_for_a_doorbell_that_is_on_its_way() {
        // Packets of 64 bytes, which leave the link idle for more than nine tenths of the time.
        let latency_ns = |rate: &str| {
            let r = results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/traffic/sizes/size", json!("64 B")),
                ("/traffic/rate", json!(rate)),
            ]));
            assert!(r.packets.transmitted > 10);
            r.io.and_then(|io| io.write_latency_ns).expect("packets are written")
        };
        let (alone, often) = (latency_ns("0.2 Mpps"), latency_ns("4 Mpps"));
        assert!(often < 1.05 * alone, "{often:.0} and {alone:.0} ns");
    }

    #[test]
    fn descriptors_are_taken_back_when_their_completion_is_in_memory() {
        let scenario = forwarder(&[("/queues/tx_completion_batch", json!(2))]);
        let mut host = Host::new(&scenario, None).unwrap();
        let (now, q) = (Ps::ZERO, &mut host.queues[0]);
        (0..4).for_each(|_| _ = q.tx.take_descriptor(now));
        let reports = |line: Option<_>| line.is_some();
        assert!(
            [0, 1, 2, 3].map(|_| reports(q.tx.packet_sent(None))) == [false, true, false, true]
        );
        assert_eq!((q.reap(now), q.tx.in_use()), (0, 4));
        q.tx.sent_reported();
        assert_eq!((q.reap(now), q.tx.in_use()), (1, 2));
        q.tx.sent_reported();
        assert_eq!((q.reap(now), q.tx.in_use()), (1, 0));
    }

    /// A poll takes 4 us and more, in which some twenty packets come that it sends together.
    #[test]
    fn packets_posted_together_are_sent_at_the_packet_rate() {
        let of = |limit: Option<&str>| {
            results(&forwarder(&[
                ("/machine/nic/packet_rate", json!(limit)),
                ("/machine/nic/tx_descriptor_batch", json!(32)),
                ("/queues/burst", json!(32)),
                ("/queues/burst_instructions", json!(32_000)),
                ("/traffic/kind", json!("constant")),
                ("/traffic/rate", json!("5 Mpps")),
                ("/traffic/flows", json!(1)),
                ("/traffic/sizes/size", json!("64 B")),
                ("/run/duration", json!("1 ms")),
            ]))
        };
        let transmit_ns = |r: &Results| {
            let stage = r.latency.iter().find(|l| l.stage == "transmit");
            stage.expect("packets were sent").distribution.mean_ns
        };
        let (free, limited) = (of(None), of(Some("10 Mpps")));
        let fetches = limited.domains.iter().find(|d| d.domain == "tx-fetches").expect("a domain");
        let together = limited.packets.transmitted as f64 / fetches.uses as f64;
        let more_ns = transmit_ns(&limited) - transmit_ns(&free);
        let by_hand = (together - 1.0) / 2.0 * 100.0;
        assert!((more_ns / by_hand - 1.0).abs() < 0.05, "{more_ns} ns, by hand {by_hand}");
    }

    /// 32 descriptors of 64 bytes take four read tags, which are all there are. Packets that take
    /// two each leave two free: a fetch queued behind them, and all that depends on it, would wait
    /// until no packet is left to send.
    #[test]
    fn descriptor_fetches_of_several_requests_go_first() {
        let mut pcie = pcie_json();
        (pcie["max_read_request"], pcie["non_posted_credits"]) = (json!("512 B"), json!(4));
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie),
            ("/machine/nic/descriptor_size", json!("64 B")),
            ("/machine/nic/descriptor_batch", json!(32)),
            ("/queues/tx_descriptors", json!(1024)),
            ("/queues/rx_descriptors", json!(1024)),
            ("/queues/pool_buffers", json!(2048)),
            ("/traffic/sizes/size", json!("64 B")),
            ("/traffic/rate", json!("20 Mpps")),
            ("/run/duration", json!("1 ms")),
        ]));
        // Excess packets find no descriptor, once the NIC has read all descriptors.
        assert_eq!(r.packets.dropped_sram, 0);
        assert!(r.packets.dropped_no_descriptor > 1000, "{:?}", r.packets);
    }
}
