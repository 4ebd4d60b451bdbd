//! What becomes of a run's packets in front of a server of given rates, without simulating the server: a tandem of
//! the NIC's SRAM and the receive rings, which are drained as a fluid is.
//!
//! `explain` asks this what changes to a run save that drops packets in bursts
//! (docs/models/explain.md, "Drops although no stage is full on average").

use std::sync::Arc;

use crate::config::Scenario;
use crate::host::{BuildError, source};
use crate::nic::rss::Rss;
use crate::time::{PS_PER_S, Ps};
use crate::units::Rate;
use crate::wire::line_rate::LineRate;
use crate::wire::{Arrivals, Capture, Source};

/// The last packets of a long run that are looked at, for `explain` to answer at once.
const MOST: usize = 1 << 20;

/// The packets of a run in the order in which they reach the NIC.
#[derive(Clone, Debug)]
pub struct Bursts {
    packets: Vec<Comes>,
    /// When measuring begins, microseconds.
    measured_from_us: f64,
    traffic: Traffic,
}

/// Where they come from, before the first has come.
#[derive(Clone, Debug)]
struct Traffic {
    arrivals: Arrivals,
    rss: Rss,
    link: Option<LineRate>,
    queues: u32,
    /// The measured time.
    from: Ps,
    end: Ps,
}

impl Traffic {
    fn come(self) -> Bursts {
        let Traffic { mut arrivals, mut link, .. } = self.clone();
        let mut packets = Vec::new();
        loop {
            let arrival = arrivals.next();
            let at =
                link.as_mut().map_or(arrival.at, |link| link.arrives(arrival.at, arrival.bytes));
            if at >= self.end {
                break;
            }
            packets.push(Comes { at_us: us(at), queue: self.rss.queue(arrival.flow) });
            if packets.len() == 2 * MOST {
                packets.drain(..MOST);
            }
        }
        packets.drain(..packets.len().saturating_sub(MOST));
        Bursts { packets, measured_from_us: us(self.from), traffic: self }
    }
}

fn us(at: Ps) -> f64 {
    at.0 as f64 / (PS_PER_S / 1_000_000) as f64
}

#[derive(Clone, Copy, Debug)]
struct Comes {
    at_us: f64,
    queue: u32,
}

/// A server: what it does of packets that wait, and how many may. Rates are in millions per second.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// At which packets leave the NIC's SRAM.
    pub leaves_sram: f64,
    /// Packets that the SRAM holds.
    pub sram: f64,
    /// At which packets of all rings are done.
    pub serves: f64,
    /// At which packets of one ring are done, at most.
    pub serves_ring: f64,
    /// Descriptors of one ring.
    pub ring: f64,
    /// Descriptors that a queue posts together, when so many packets are done.
    pub post_batch: u32,
    /// From then until the NIC can use them, microseconds.
    pub posting_us: f64,
}

/// What became of the packets that came in the measured time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Passed {
    /// Their number.
    pub came: u64,
    /// Share of them that the SRAM had no room for.
    pub lost_in_sram: f64,
    /// Share of them that no ring had room for.
    pub lost_in_rings: f64,
    /// The most packets that waited in the SRAM.
    pub most_in_sram: f64,
    /// The most descriptors of one ring that packets held, or that were not posted again yet.
    pub most_in_ring: f64,
}

impl Bursts {
    /// The packets of a checked scenario, up to the end of its measured time; `None` if they do not come at times of their
    /// own. A packet has the size that the traffic gives it, also where an application's client would choose another.
    ///
    /// # Errors
    /// If the traffic cannot be built.
    pub fn new(
        scenario: &Scenario,
        capture: Option<Arc<Capture>>,
    ) -> Result<Option<Bursts>, BuildError> {
        let Some((Source::Timed(arrivals), rss)) = source(scenario, capture)? else {
            return Ok(None);
        };
        let link = scenario.machine.nic.link.map(LineRate::new);
        let (from, run) = (scenario.run.warmup.ps(), scenario.run.duration.ps());
        let end = Ps(from.0.saturating_add(run.0));
        Ok(Some(
            Traffic { arrivals, rss, link, queues: scenario.serving_cores(), from, end }.come(),
        ))
    }

    /// The packets if they come at another mean rate, as a peak search varies it.
    ///
    /// # Panics
    /// If `mean` is zero.
    pub fn at(&self, mean: Rate) -> Bursts {
        let mut traffic = self.traffic.clone();
        traffic.arrivals.set_rate(mean);
        traffic.come()
    }

    /// What becomes of them in front of a server.
    pub fn pass(&self, server: &Server) -> Passed {
        let mut rings = Rings::new(self.traffic.queues as usize, server);
        let (mut came, mut lost_in_sram, mut lost_in_rings) = (0u64, 0u64, 0u64);
        let (mut most_in_sram, mut most_in_ring) = (0.0_f64, 0.0_f64);
        let apart_us = 1.0 / server.leaves_sram;
        // When the last packet leaves the SRAM.
        let mut left_us = f64::NEG_INFINITY;
        for packet in &self.packets {
            let counts = u64::from(packet.at_us >= self.measured_from_us);
            came += counts;
            let leaves_us = packet.at_us.max(left_us + apart_us);
            let waits_us = leaves_us - packet.at_us;
            let waits = if waits_us > 0.0 { waits_us * server.leaves_sram } else { 0.0 };
            if waits + 1.0 > server.sram {
                lost_in_sram += counts;
                continue;
            }
            rings.drain_until(leaves_us);
            let held = rings.held_at(leaves_us, packet.queue) + 1.0;
            if held > server.ring {
                // What has no descriptor is dropped from the SRAM without a DMA write.
                lost_in_rings += counts;
                left_us = leaves_us - apart_us;
            } else {
                rings.add(packet.queue);
                left_us = leaves_us;
            }
            if counts == 1 {
                most_in_sram = most_in_sram.max(waits + 1.0);
                most_in_ring = most_in_ring.max(held);
            }
        }
        let share = |of: u64| if came == 0 { 0.0 } else { of as f64 / came as f64 };
        Passed {
            came,
            lost_in_sram: share(lost_in_sram),
            lost_in_rings: share(lost_in_rings),
            most_in_sram,
            most_in_ring: most_in_ring.min(server.ring),
        }
    }
}

/// What waits in the rings, of which all that are not empty are drained at one rate.
///
/// In virtual time, which passes as fast as one ring is drained (as in weighted fair queueing: Demers, Keshav and Shenker,
/// SIGCOMM 1989), a packet is done one unit after the one before it in its ring.
struct Rings {
    /// When each ring is empty, in virtual time.
    empty: Vec<f64>,
    descriptors: Vec<Descriptors>,
    post_batch: f64,
    posting_us: f64,
    virtual_: f64,
    now_us: f64,
    serves: f64,
    serves_ring: f64,
}

/// Those of one ring.
#[derive(Clone, Copy, Default)]
struct Descriptors {
    /// Packets that it has taken.
    taken: u64,
    /// Descriptors that have been posted again, and when the NIC can use the last of them.
    posted: f64,
    usable_us: f64,
    /// Packets that were done when it was looked at last, and when that was.
    done: f64,
    seen_us: f64,
}

impl Rings {
    fn new(queues: usize, server: &Server) -> Rings {
        let Server { serves, serves_ring, post_batch, posting_us, .. } = *server;
        let (empty, descriptors) = (vec![0.0; queues], vec![Descriptors::default(); queues]);
        let post_batch = f64::from(post_batch);
        Rings {
            empty,
            descriptors,
            post_batch,
            posting_us,
            virtual_: 0.0,
            now_us: 0.0,
            serves,
            serves_ring,
        }
    }

    fn drain_until(&mut self, until_us: f64) {
        let mut left_us = until_us - self.now_us;
        self.now_us = until_us;
        while left_us > 0.0 {
            let (mut waiting, mut next) = (0u32, f64::INFINITY);
            for empty in &self.empty {
                if *empty > self.virtual_ {
                    waiting += 1;
                    next = next.min(*empty);
                }
            }
            if waiting == 0 {
                return;
            }
            let rate = self.serves_ring.min(self.serves / f64::from(waiting));
            let takes_us = (next - self.virtual_) / rate;
            if takes_us > left_us {
                self.virtual_ += left_us * rate;
                return;
            }
            self.virtual_ = next;
            left_us -= takes_us;
        }
    }

    /// Packets that wait in a ring.
    fn waits(&self, queue: u32) -> f64 {
        (self.empty[queue as usize] - self.virtual_).max(0.0)
    }

    /// Descriptors of a ring that are not free, now that the rings are drained until `now_us`.
    fn held_at(&mut self, now_us: f64, queue: u32) -> f64 {
        let waits = self.waits(queue);
        let of = &mut self.descriptors[queue as usize];
        let done = of.taken as f64 - waits;
        let posted = (done / self.post_batch).floor() * self.post_batch;
        if posted > of.posted {
            // A ring that waits is drained at its rate since it was looked at last, or later where rings share what is
            // done. Only the last to be posted counts: what was posted just before is little.
            let since_us = (posted - of.done) / self.serves_ring;
            (of.posted, of.usable_us) = (posted, of.seen_us + since_us + self.posting_us);
        }
        (of.done, of.seen_us) = (done, now_us);
        let usable = if now_us < of.usable_us { of.posted - self.post_batch } else { of.posted };
        of.taken as f64 - usable.max(0.0)
    }

    fn add(&mut self, queue: u32) {
        self.descriptors[queue as usize].taken += 1;
        let empty = &mut self.empty[queue as usize];
        *empty = empty.max(self.virtual_) + 1.0;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::forwarder;

    const ANY: Server = Server {
        leaves_sram: f64::INFINITY,
        sram: f64::INFINITY,
        serves: f64::INFINITY,
        serves_ring: f64::INFINITY,
        ring: f64::INFINITY,
        post_batch: 1,
        posting_us: 0.0,
    };

    /// 40 us at 100 Mpps, and 60 us of pause: 4000 packets in each of ten cycles, of one flow.
    fn bursts() -> Bursts {
        let mut traffic = json!({ "kind": "bursts", "rate": "100 Mpps", "on": "40 us" });
        (traffic["off"], traffic["flows"]) = (json!("60 us"), json!(1));
        traffic["sizes"] = json!({ "kind": "fixed", "size": "64 B" });
        let set = [("/traffic", traffic), ("/run/duration", json!("1 ms"))];
        Bursts::new(&forwarder(&set), None).expect("valid traffic").expect("it has times")
    }

    fn near(is: f64, by_hand: f64) {
        assert!((is - by_hand).abs() < 0.002 * by_hand.max(1.0), "{is}, by hand {by_hand}");
    }

    #[test]
    fn what_a_ring_has_no_room_for_is_lost() {
        // In 40 us 1600 are done of the 4000, and 1000 wait.
        let passed = bursts().pass(&Server { serves: 40.0, ring: 1000.0, ..ANY });
        near(passed.lost_in_rings, 0.35);
        near(passed.most_in_ring, 1000.0);
        assert_eq!(passed.lost_in_sram, 0.0);
        // All that waits is done in the pause; 2400 would have to wait for nothing to be lost.
        let passed = bursts().pass(&Server { serves: 40.0, ..ANY });
        assert_eq!(passed.lost_in_rings, 0.0);
        near(passed.most_in_ring, 2400.0);
        // Of one flow, a second ring is of no use.
        let passed = bursts().pass(&Server { serves_ring: 40.0, serves: 80.0, ..ANY });
        near(passed.most_in_ring, 2400.0);
        // 20 Mpps are half of what comes: the ring is never empty.
        let passed = bursts().pass(&Server { serves: 20.0, ring: 2000.0, ..ANY });
        near(passed.lost_in_rings, 0.5);
    }

    #[test]
    fn what_waits_in_the_sram_reaches_the_rings_later() {
        // 50 Mpps for 80 us: the SRAM holds 2000 at most, the ring 800.
        let slower = Server { leaves_sram: 50.0, serves: 40.0, ..ANY };
        let passed = bursts().pass(&slower);
        near(passed.most_in_sram, 2000.0);
        near(passed.most_in_ring, 800.0);
        // 40 us at 50 Mpps, and 500 wait.
        let passed = bursts().pass(&Server { sram: 500.0, ..slower });
        near(passed.lost_in_sram, 0.375);
        assert_eq!(passed.lost_in_rings, 0.0);
        // What is dropped is not written, so while the ring is full the SRAM empties: in 40 us 1600 are done, and 400
        // wait.
        let passed = bursts().pass(&Server { ring: 400.0, ..slower });
        near(passed.lost_in_rings, 0.5);
        assert_eq!(passed.lost_in_sram, 0.0);
    }

    #[test]
    fn rings_share_what_is_done() {
        let mut rings = Rings::new(2, &Server { serves: 3.0, serves_ring: 2.0, ..ANY });
        (0..2).for_each(|_| rings.add(0));
        (0..5).for_each(|_| rings.add(1));
        // 1.5 Mpps each until the first is empty, then 2 of the other.
        rings.drain_until(2.0 / 1.5);
        assert_eq!((rings.waits(0), rings.waits(1)), (0.0, 3.0));
        rings.drain_until(2.0 / 1.5 + 1.0);
        near(rings.waits(1), 1.0);
        rings.drain_until(10.0);
        assert_eq!(rings.waits(1), 0.0);
        rings.add(0);
        assert_eq!(rings.waits(0), 1.0);
    }

    #[test]
    fn descriptors_are_posted_together() {
        let mut rings =
            Rings::new(1, &Server { serves_ring: 1.0, post_batch: 4, posting_us: 0.5, ..ANY });
        (0..6).for_each(|_| rings.add(0));
        let mut held_at = |us| {
            rings.drain_until(us);
            (rings.waits(0), rings.held_at(us, 0))
        };
        assert_eq!(held_at(3.5), (2.5, 6.0));
        // Posted, and not known to the NIC yet.
        assert_eq!(held_at(4.25), (1.75, 6.0));
        assert_eq!(held_at(4.5), (1.5, 2.0));
        assert_eq!(held_at(7.0), (0.0, 2.0));
    }

    #[test]
    fn closed_loops_and_backlogs_have_no_times() {
        let backlog = json!({ "kind": "backlog", "depth": 4, "flows": 64,
                              "sizes": { "kind": "fixed", "size": "1024 B" } });
        let scenario = forwarder(&[("/traffic", backlog)]);
        assert!(Bursts::new(&scenario, None).expect("valid traffic").is_none());
    }

    #[test]
    fn a_peak_search_varies_the_rate_of_bursts_and_not_their_length() {
        // 20 Mpps in the mean instead of 40, and so 50 while they last.
        let passed = bursts().at(Rate(20_000_000)).pass(&Server { serves: 40.0, ..ANY });
        near(passed.came as f64, 20_000.0);
        assert!((passed.most_in_ring - 400.0).abs() <= 1.0, "{passed:?}");
    }

    #[test]
    fn the_link_spreads_packets_out() {
        let rate = |link: Option<&str>| {
            let traffic = json!({ "kind": "constant", "rate": "100 Mpps", "flows": 64,
                                  "sizes": { "kind": "fixed", "size": "1024 B" } });
            let scenario = forwarder(&[("/machine/nic/link", json!(link)), ("/traffic", traffic)]);
            let bursts = Bursts::new(&scenario, None).expect("valid traffic").expect("has times");
            bursts.packets.len() as f64 / 300.0
        };
        near(rate(None), 100.0);
        // 1048 bytes with overheads.
        near(rate(Some("100 Gbps")), 100e3 / 8.0 / 1048.0);
    }
}
