//! Admission to the LLC: requests of cores, DMA and page walks that the LLC does not take at once
//! wait in one FIFO queue.

use super::reads::For;
use super::timeline::Point;
use super::{Event, Host};
use crate::time::Ps;

impl Host {
    /// Whether the LLC takes the request of an event; if not, the event is held back.
    #[inline]
    pub(super) fn llc_takes(&mut self, now: Ps, event: Event) -> bool {
        let takes = self.held_back.is_empty() && self.memory.backend.takes_requests();
        if !takes {
            self.hold_back(now, event);
        }
        takes
    }

    #[cold]
    fn hold_back(&mut self, now: Ps, event: Event) {
        let reads = self.lines_of_read(&event);
        self.meters.domains.held_back.enter(now, &event, reads);
        self.held_back.push_back(event);
    }

    /// Something that may have blocked the LLC has ended: releases what was held back, as far as
    /// the LLC takes requests again.
    #[cold]
    pub(super) fn release(&mut self, now: Ps) {
        while self.memory.backend.takes_requests()
            && let Some(event) = self.held_back.pop_front()
        {
            let (reads, last) = (self.lines_of_read(&event), self.held_back.is_empty());
            self.memory.others_wait = !last;
            self.meters.domains.held_back.leave(now, &event, reads, last);
            match event {
                Event::Request { core, register } => self.request(now, core, register),
                Event::WalkRead { walker } => self.walk_read(now, walker),
                _ => {
                    self.record_taken(now, event);
                    self.dma(now, event);
                }
            }
        }
    }

    /// A DMA is at the I/O controller: performs it, or lets it wait for its translation or for the LLC.
    #[inline(always)]
    pub(super) fn dma_arrives(&mut self, now: Ps, event: Event) {
        if self.goes_on(now, event) && self.llc_takes(now, event) {
            self.dma(now, event);
        }
    }

    /// Performs a DMA that is translated and that the LLC has taken.
    #[inline(always)]
    pub(super) fn dma(&mut self, now: Ps, event: Event) {
        match event {
            Event::Write { packet, first, lines } => self.write(now, packet, first, lines),
            Event::Complete { queue, packets } => self.complete_packets(now, queue, packets),
            Event::BenchWrite { line, lines, ends } => self.bench_write(now, line, lines, ends),
            Event::TransmitComplete { core, line } => self.complete_transmit(now, core, line),
            Event::Read { read } => self.read(now, read),
            other => panic!("DMA is asked for; got {other:?}"),
        }
    }

    fn record_taken(&mut self, now: Ps, event: Event) {
        let Some(recording) = &mut self.recording else { return };
        match event {
            Event::Write { packet, .. } => recording.pass(packet, &[(Point::Written, now)]),
            Event::Read { read } => {
                if let For::Transmit { packet, .. } = self.reads.under_way.get(read).purpose {
                    recording.pass(packet, &[(Point::ReadTaken, now)]);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, iommu_json, pcie_json, results};

    /// A forwarder beside a core that runs STREAM.
    fn contended(set: &[(&str, Value)]) -> Results {
        let tenant = |name: &str, core: u32, app: Value| json!({ "name": name, "cores": { "first": core, "count": 1 }, "app": app });
        let forwards = json!({ "kind": "l3fwd", "rules": 64, "transmit": "zero-copy" });
        let streams = json!({ "kind": "stream", "array": "256 KiB" });
        let tenants = json!([tenant("stream", 0, streams), tenant("forwarder", 1, forwards)]);
        let mut all = vec![("/tenants", tenants), ("/traffic/rate", "2 Mpps".into())];
        all.extend_from_slice(set);
        results(&forwarder(&all))
    }

    fn of<'a>(results: &'a Results, name: &str) -> &'a Domain {
        results.domains.iter().find(|d| d.domain == name).expect("a domain of the run")
    }

    #[test]
    fn few_trackers_hold_back_cores_and_dma() {
        let set =
            [("/machine/llc/home_trackers", 4.into()), ("/machine/dram/write_queue", 64.into())];
        let r = contended(&set);
        let trackers = of(&r, "home-trackers");
        // No write-back waits. Every read of memory held a tracker, give or take those in flight
        // when measuring began and ended. The lines of a DMA read are admitted together and may
        // exceed the trackers.
        let read = of(&r, "read-queue").uses;
        assert!(trackers.uses.abs_diff(read) <= 32, "{} of {read} reads", trackers.uses);
        let used = trackers.busy_ps as f64 / 1e3 / r.measured_ns;
        assert!((3.5..4.2).contains(&used), "{used} of 4");
        let stopped = trackers.starved_ps as f64 / 1e3 / r.measured_ns;
        assert!((0.9..=1.0).contains(&stopped), "{stopped} of the time");
        assert!(trackers.holds_writes_ps > 0 && trackers.holds_cores_ps > trackers.starved_ps / 2);
    }

    /// Cores, DMA and page walks wait in one queue, so that no read passes a write.
    #[test]
    fn reads_of_the_nic_and_of_page_walks_wait_as_all_others() {
        let with = |trackers: u32| {
            contended(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/iommu", iommu_json(8)),
                ("/machine/llc/home_trackers", trackers.into()),
                ("/traffic/rate", "1 Mpps".into()),
            ])
        };
        let (many, few) = (with(64), with(4));
        let held = |r: &Results| of(r, "home-trackers").holds_reads_ps;
        assert_eq!(held(&many), 0);
        // Each line that the NIC reads waits as long as one that it writes.
        let wait = |held: u64, uses: &str| held as f64 / of(&few, uses).uses as f64;
        let read = wait(held(&few), "read-credits");
        let written = wait(of(&few, "home-trackers").holds_writes_ps, "io-credits");
        assert!(read > 1e5 && (read / written - 1.0).abs() < 0.25, "{read} and {written} ps");
        let walk_ns = |r: &Results| r.iommu.as_ref().and_then(|i| i.miss_latency_ns).unwrap();
        assert!(walk_ns(&few) > walk_ns(&many) + 100.0, "{} and {}", walk_ns(&few), walk_ns(&many));
    }

    #[test]
    fn write_backs_that_find_no_room_hold_trackers() {
        let set =
            [("/machine/dram/write_queue", 2.into()), ("/machine/llc/home_trackers", 8.into())];
        let (roomy, full) = (contended(&set[1..]), contended(&set));
        let read = of(&full, "read-queue").uses;
        let trackers = of(&full, "home-trackers");
        assert!(trackers.uses > read + read / 10, "{} beside {read} reads", trackers.uses);
        assert!(trackers.starved_ps > of(&roomy, "home-trackers").starved_ps);
        // While a write-back waits, the write queue is full.
        let waits = |r: &Results| of(r, "write-queue").starved_ps as f64 / 1e3 / r.measured_ns;
        let (seldom, often) = (waits(&roomy), waits(&full));
        assert!(seldom < 0.1 && (0.1..=1.0).contains(&often), "{seldom} and {often} of the time");
        assert!(trackers.holds_writes_ps > 0 && trackers.holds_cores_ps > 0);
    }
}
