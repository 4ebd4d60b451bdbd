//! From the wire into the NIC's SRAM.

use std::collections::VecDeque;

use super::packets::Packet;
use super::{Event, Host};
use crate::apps::App;
use crate::time::Ps;
use crate::wire::{Arrival, Source};

/// A packet of a queue's backlog, and its number.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    arrival: Arrival,
    queue: u16,
    seq: u64,
}

/// Packets of backlogs that found no room in the NIC's SRAM and wait for it: at most one of each queue, in
/// the order in which they were drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct WithoutRoom {
    packets: VecDeque<Drawn>,
    /// A bit for each queue that has one (a machine has at most 32 cores, with a queue each). Every packet
    /// asks for it several times, which is too often for a search.
    queues: u32,
}

impl WithoutRoom {
    fn has_one_of(&self, queue: usize) -> bool {
        self.queues >> queue & 1 != 0
    }

    fn first(&self) -> Option<Drawn> {
        self.packets.front().copied()
    }

    fn add(&mut self, drawn: Drawn) {
        self.queues |= 1 << drawn.queue;
        self.packets.push_back(drawn);
    }

    fn remove_first(&mut self) {
        if let Some(drawn) = self.packets.pop_front() {
            self.queues &= !(1 << drawn.queue);
        }
    }
}

impl Host {
    pub(super) fn schedule_arrival(&mut self) {
        if let Some(Source::Timed(arrivals)) = &mut self.source {
            let mut arrival = arrivals.next();
            arrival.bytes = self.frame_bytes(&arrival, self.queue_of(&arrival));
            let due = arrival.at;
            if let Some(line) = &mut self.rx.line_rate {
                arrival.at = line.arrives(due, arrival.bytes);
            }
            self.next_arrival = Some((arrival, arrival.at - due));
            self.events.push(arrival.at, Event::Arrival);
        }
    }

    /// The queue to which RSS sends a packet.
    fn queue_of(&self, arrival: &Arrival) -> u16 {
        self.rss.as_ref().expect("traffic has its queues").queue(arrival.flow) as u16
    }

    /// Bytes of the next packet, which goes to `queue`: chosen by the application's client if there
    /// is one, otherwise by the traffic.
    fn frame_bytes(&self, arrival: &Arrival, queue: u16) -> u32 {
        let core = self.queues[queue as usize].core as usize;
        let app = &self.apps[self.cores[core].tenant.expect("a queue's core has a tenant")];
        app.request_bytes(self.rx.next_seq).unwrap_or(arrival.bytes)
    }

    pub(super) fn arrival(&mut self, now: Ps) {
        let (arrival, waited) = self.next_arrival.take().expect("an arrival was scheduled");
        self.meters.link_wait += u128::from(waited.0);
        let queue = self.queue_of(&arrival);
        let seq = self.next_seq();
        if self.admit(now, arrival, queue, seq).is_some() {
            self.receive(now);
        }
        self.schedule_arrival();
    }

    /// The number of the next packet on the wire.
    fn next_seq(&mut self) -> u64 {
        self.rx.next_seq += 1;
        self.rx.next_seq - 1
    }

    /// Keeps the backlog of a queue at its depth. The generator watches the receive queue, from which a core
    /// takes a burst at a time, and never has more than two bursts in transit through the NIC: what is
    /// missing beyond these follows as they become visible. (More would wait in the NIC, which is not where
    /// the backlog is meant to be.) A packet that would find no room in the SRAM is put in when there is
    /// room, and one that would find no descriptor when the doorbell of one reaches the NIC: nothing that the
    /// generator makes up is dropped.
    pub(super) fn top_up(&mut self, queue: usize) {
        let Some(Source::Backlog { depth, .. }) = self.source else { return };
        let on_their_way = self.most_on_their_way();
        if self.rx.without_room.has_one_of(queue) {
            return;
        }
        for _ in 0..self.queues[queue].rx.backlog_lacks(depth, on_their_way) {
            let drawn = self.draw_for(queue as u16);
            if !self.put_in(drawn) {
                self.rx.without_room.add(drawn);
                return;
            }
        }
    }

    /// The most packets of a queue's backlog in transit through the NIC at once.
    fn most_on_their_way(&self) -> u32 {
        2 * self.scenario.queues.burst
    }

    /// Packets that must be waiting in a queue when a core takes some: the backlog, less those in transit.
    /// The queue always holds its backlog (Sweeper, section IV-B), even where cores are faster than the NIC.
    pub(super) fn least_waiting(&self) -> u32 {
        match self.source {
            Some(Source::Backlog { depth, .. }) => depth.saturating_sub(self.most_on_their_way()),
            _ => 0,
        }
    }

    /// The SRAM has room again: serves the backlogs that found none, one after the other.
    pub(super) fn top_up_without_room(&mut self) {
        while let Some(drawn) = self.rx.without_room.first() {
            if !self.put_in(drawn) {
                return;
            }
            self.rx.without_room.remove_first();
            self.top_up(drawn.queue as usize);
        }
    }

    /// Puts a packet of a backlog into the NIC if there is room. Returns whether there is.
    fn put_in(&mut self, Drawn { arrival, queue, seq }: Drawn) -> bool {
        let now = self.events.now();
        if !self.rx.has_room(now, arrival.bytes) {
            return false;
        }
        self.queues[queue as usize].rx.add_to_backlog();
        self.admit(now, arrival, queue, seq);
        self.receive(now);
        true
    }

    /// Draws a packet for a queue's backlog, from the queue's flows if it has any.
    fn draw_for(&mut self, queue: u16) -> Drawn {
        let Some(Source::Backlog { draw, .. }) = &mut self.source else {
            panic!("only a backlog is drawn for a queue")
        };
        let flows = self.rss.as_ref().expect("traffic has its queues").flows_of(queue.into());
        let now = self.events.now();
        let mut arrival =
            if flows.is_empty() { draw.draw(now) } else { draw.draw_among(now, flows) };
        arrival.bytes = self.frame_bytes(&arrival, queue);
        Drawn { arrival, queue, seq: self.next_seq() }
    }

    /// Takes a packet into the SRAM. Returns `None` if there is no room, and the packet is dropped.
    pub(super) fn admit(&mut self, now: Ps, arrival: Arrival, queue: u16, seq: u64) -> Option<u32> {
        let bytes = arrival.bytes;
        self.meters.offered += 1;
        self.meters.offered_bytes += u64::from(bytes);
        self.queues[queue as usize].rx.counts.offered += 1;
        self.meters.domains.frame(bytes);
        if !self.rx.has_room(now, bytes) {
            self.meters.dropped_sram += 1;
            self.meters.dropped_bytes += u64::from(bytes);
            if let Some(recording) = &mut self.recording {
                recording.not_admitted(now, seq, arrival.flow, queue);
            }
            return None;
        }
        self.rx.sram.take(now, bytes.into());
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
            to_send_since: now,
            ended: false,
            to_send: false,
            in_sram: true,
            unsent: 0,
        });
        if let Some(recording) = &mut self.recording {
            recording.arrived(packet, self.packets.get(packet));
        }
        self.queues[queue as usize].rx.admit();
        self.meters.in_path += 1;
        self.rx.fifo.push_back(packet);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{forwarder, results};

    #[test]
    fn what_waits_before_the_link_is_told() {
        let wait_ns = |link: Option<&str>| {
            // Sixteen frames of 1048 bytes with overheads, one every 50 ns, then a pause.
            let mut traffic = json!({ "kind": "bursts", "rate": "20 Mpps", "on": "800 ns" });
            (traffic["off"], traffic["flows"]) = (json!("19200 ns"), json!(64));
            traffic["sizes"] = json!({ "kind": "fixed", "size": "1024 B" });
            let r = results(&forwarder(&[
                ("/machine/nic/link", json!(link)),
                ("/traffic", traffic),
                ("/run/duration", json!("2 ms")),
            ]));
            r.packets.link_wait_ns
        };
        assert_eq!(wait_ns(None), None);
        assert_eq!(wait_ns(Some("1000 Gbps")), Some(0.0));
        // 83.84 ns each, one every 50 ns: each frame comes too early by the difference, and the last
        // waits for fifteen times that.
        let by_hand = 7.5 * (8.0 * 1048.0 / 100.0 - 50.0);
        let wait_ns = wait_ns(Some("100 Gbps")).expect("there is a link");
        assert!((wait_ns / by_hand - 1.0).abs() < 0.02, "{wait_ns} ns, by hand {by_hand}");
    }

    #[test]
    fn of_a_full_sram_large_packets_are_dropped_first() {
        let sizes = |of: &[&str]| {
            let of: Vec<_> = of.iter().map(|size| json!({ "size": size, "weight": 1 })).collect();
            let traffic = json!({
                "kind": "poisson", "rate": "40 Mpps", "flows": 64, "sizes": { "kind": "mix", "of": of }
            });
            // Few credits: the NIC cannot keep up with the traffic.
            let credits = ("/machine/nic/write_credits", json!(8));
            let sram = ("/machine/nic/sram", json!("4 KiB"));
            let mut set = vec![("/traffic", traffic), credits, sram];
            set.push(("/queues/rx_descriptors", json!(2048)));
            set.push(("/queues/pool_buffers", json!(4096)));
            results(&forwarder(&set)).packets
        };
        let mix = sizes(&["60 B", "1020 B"]);
        assert!((mix.offered_gbps / mix.offered_mpps / (540.0 * 8e-3) - 1.0).abs() < 0.02);
        assert!(mix.dropped_sram > 0 && mix.dropped_bytes_share > 1.1 * mix.drop_share, "{mix:?}");
        let one = sizes(&["1020 B"]);
        assert!((one.dropped_bytes_share / one.drop_share - 1.0).abs() < 1e-9, "{one:?}");
        // The same where the rings have no room.
        let rings = results(&forwarder(&[("/traffic/rate", json!("60 Mpps"))])).packets;
        assert!(rings.dropped_no_descriptor > 0, "{rings:?}");
        assert!((rings.dropped_bytes_share / rings.drop_share - 1.0).abs() < 1e-9, "{rings:?}");
    }
}
