//! Before the LLC: requests of cores and DMA that wait until it takes requests again, in one line, in the
//! order in which they came.

use super::timeline::Point;
use super::{Event, Host};
use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// What is held back, because all home trackers are in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldBack {
    /// Lines of DMA writes, which keep their credits.
    pub(super) writes: Occupancy,
    /// Requests of cores.
    pub(super) cores: Occupancy,
    /// There are some.
    pub(super) time: Starvation,
}

impl HeldBack {
    fn enter(&mut self, now: Ps, event: &Event) {
        let (lines, _) = event.write_credits();
        self.writes.enter(now, lines);
        self.cores.enter(now, u64::from(lines == 0));
        self.time.begin(now);
    }

    fn leave(&mut self, now: Ps, event: &Event, last: bool) {
        let (lines, _) = event.write_credits();
        self.writes.leave(now, lines);
        self.cores.leave(now, u64::from(lines == 0));
        if last {
            self.time.end(now);
        }
    }

    /// Starts the measured time.
    pub(super) fn reset(&mut self, now: Ps) {
        self.writes.reset(now);
        self.cores.reset(now);
        self.time.reset(now);
    }
}

impl Host {
    /// Whether the LLC takes the request of an event; if not, the event is held back.
    #[inline]
    pub(super) fn llc_takes(&mut self, event: Event) -> bool {
        let takes = self.held_back.is_empty() && self.memory.backend.takes_requests();
        if !takes {
            self.hold_back(event);
        }
        takes
    }

    #[cold]
    fn hold_back(&mut self, event: Event) {
        self.meters.domains.held_back.enter(self.events.now(), &event);
        self.held_back.push_back(event);
    }

    /// Something has ended for which the LLC may have been stopped: lets what was held back happen as far
    /// as it takes requests again.
    #[cold]
    pub(super) fn release(&mut self, now: Ps) {
        while self.memory.backend.takes_requests()
            && let Some(event) = self.held_back.pop_front()
        {
            self.meters.domains.held_back.leave(now, &event, self.held_back.is_empty());
            match event {
                Event::Request { core, register } => self.request(now, core, register),
                Event::Write { packet, first, lines } => {
                    if let Some(recording) = &mut self.recording {
                        recording.pass(packet, &[(Point::Written, now)]);
                    }
                    self.write(now, packet, first, lines);
                }
                Event::Complete { queue, packets } => self.complete_packets(now, queue, packets),
                Event::BenchWrite { line, lines, ends } => {
                    self.bench_write(now, line, lines, ends);
                }
                other => panic!("only requests to the LLC are held back; got {other:?}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, results};

    /// A forwarder beside a core that runs STREAM.
    fn contended(set: &[(&str, Value)]) -> Results {
        let tenant = |name: &str, core: u32, app: Value| json!({ "name": name, "cores": { "first": core, "count": 1 }, "app": app });
        let forwards = json!({ "kind": "l3fwd", "rules": 64, "transmit": "zero-copy" });
        let streams = json!({ "kind": "stream", "array": "256 KiB" });
        let tenants = json!([tenant("forwarder", 0, forwards), tenant("stream", 1, streams)]);
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
        // No write-back waits. Every read of memory held one of them, up to those on their way when measuring began and ended.
        // DMA reads are not held back, and may exceed them.
        let read = of(&r, "read-queue").uses;
        assert!(trackers.uses.abs_diff(read) <= 32, "{} of {read} reads", trackers.uses);
        let used = trackers.busy_ps as f64 / 1e3 / r.measured_ns;
        assert!((3.5..4.2).contains(&used), "{used} of 4");
        let stopped = trackers.starved_ps as f64 / 1e3 / r.measured_ns;
        assert!((0.9..=1.0).contains(&stopped), "{stopped} of the time");
        assert!(trackers.holds_writes_ps > 0 && trackers.holds_cores_ps > trackers.starved_ps / 2);
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
        // While one waits the queue is full.
        let waits = |r: &Results| of(r, "write-queue").starved_ps as f64 / 1e3 / r.measured_ns;
        let (seldom, often) = (waits(&roomy), waits(&full));
        assert!(seldom < 0.1 && (0.1..=1.0).contains(&often), "{seldom} and {often} of the time");
        assert!(trackers.holds_writes_ps > 0 && trackers.holds_cores_ps > 0);
    }
}
