//! From the wire into the NIC's SRAM.

use super::packets::Packet;
use super::{Event, Host};
use crate::apps::App;
use crate::time::Ps;
use crate::wire::{Arrival, Source};

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
    pub(super) fn frame_bytes(&self, arrival: &Arrival, queue: u16) -> u32 {
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
    pub(super) fn next_seq(&mut self) -> u64 {
        self.rx.next_seq += 1;
        self.rx.next_seq - 1
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
            self.queues[queue as usize].rx.counts.dropped += 1;
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
            let r = results(&forwarder(&set));
            let by_queue: u64 = r.queues.iter().filter_map(|q| q.dropped).sum();
            assert_eq!(by_queue, r.packets.dropped_sram + r.packets.dropped_no_descriptor);
            r.packets
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
