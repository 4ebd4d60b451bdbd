//! Before the LLC: requests of cores and DMA that wait until it takes requests again, in one line, in the
//! order in which they came.

use super::timeline::Point;
use super::{Event, Host};
use crate::memory::system::Stop;
use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// What is held back by one of the things that can stop the LLC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Lines of DMA writes, which keep their credits.
    pub(super) writes: Occupancy,
    /// Requests of cores.
    pub(super) cores: Occupancy,
    /// There are some.
    pub(super) time: Starvation,
}

impl Held {
    fn pass_to(&mut self, now: Ps, other: &mut Held) {
        self.writes.pass_to(now, &mut other.writes);
        self.cores.pass_to(now, &mut other.cores);
        self.time.pass_to(now, &mut other.time);
    }
}

/// What is counted of the line: all that wait in it do so for the one thing that stops the LLC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldBack {
    by: [Held; 2],
    /// What stopped the LLC when it was looked at last.
    stop: Stop,
}

impl HeldBack {
    /// What was held back for a reason.
    pub(super) fn by(&self, stop: Stop) -> &Held {
        &self.by[stop as usize]
    }

    fn present(&mut self) -> &mut Held {
        &mut self.by[self.stop as usize]
    }

    /// The LLC is looked at.
    fn look(&mut self, now: Ps, stop: Option<Stop>) {
        let Some(stop) = stop.filter(|&stop| stop != self.stop) else { return };
        let [trackers, writes] = &mut self.by;
        match stop {
            Stop::Trackers => writes.pass_to(now, trackers),
            Stop::Writes => trackers.pass_to(now, writes),
        }
        self.stop = stop;
    }

    fn enter(&mut self, now: Ps, event: &Event) {
        let (lines, _) = event.write_credits();
        let held = self.present();
        held.writes.enter(now, lines);
        held.cores.enter(now, u64::from(lines == 0));
        held.time.begin(now);
    }

    fn leave(&mut self, now: Ps, event: &Event, last: bool) {
        let (lines, _) = event.write_credits();
        let held = self.present();
        held.writes.leave(now, lines);
        held.cores.leave(now, u64::from(lines == 0));
        if last {
            held.time.end(now);
        }
    }

    /// Starts the measured time.
    pub(super) fn reset(&mut self, now: Ps) {
        for held in &mut self.by {
            held.writes.reset(now);
            held.cores.reset(now);
            held.time.reset(now);
        }
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
        let now = self.events.now();
        let counted = &mut self.meters.domains.held_back;
        counted.look(now, self.memory.backend.stopped_by());
        counted.enter(now, &event);
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
        self.meters.domains.held_back.look(now, self.memory.backend.stopped_by());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, results};

    #[test]
    fn what_waits_counts_with_what_stops_the_llc_at_that_time() {
        let write = Event::BenchWrite { line: 0, lines: 4, ends: true };
        let core = Event::Request { core: 0, register: 0 };
        let mut held = HeldBack::default();
        held.look(Ps(100), Some(Stop::Trackers));
        held.enter(Ps(100), &write);
        held.enter(Ps(110), &core);
        // A tracker came free, and buffers are full by now.
        held.look(Ps(130), Some(Stop::Writes));
        held.leave(Ps(150), &write, false);
        // It takes requests for the moment: nothing new is known.
        held.look(Ps(155), None);
        held.leave(Ps(160), &core, true);
        let times = |stop| {
            let by = held.by(stop);
            let now = Ps(1000);
            (by.writes.time(now), by.cores.time(now), by.time.time(now))
        };
        assert_eq!(times(Stop::Trackers), (4 * 30, 20, Ps(30)));
        assert_eq!(times(Stop::Writes), (4 * 20, 30, Ps(30)));
    }

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

    fn of<'a>(results: &'a Results, name: &str) -> Option<&'a Domain> {
        results.domains.iter().find(|d| d.domain == name)
    }

    #[test]
    fn few_trackers_hold_back_cores_and_dma() {
        let r = contended(&[("/machine/llc/home_trackers", 4.into())]);
        let (trackers, queue) =
            (of(&r, "home-trackers").expect("there are four"), of(&r, "write-queue").unwrap());
        // Every read of memory held one of them, up to those on their way when measuring began and ended.
        // DMA reads are not held back, and may exceed them.
        let read = r.domains.iter().find(|d| d.domain == "read-queue").unwrap().uses;
        assert!(trackers.uses.abs_diff(read) <= 32, "{} of {read} reads", trackers.uses);
        let used = trackers.busy_ps as f64 / 1e3 / r.measured_ns;
        assert!((3.5..4.2).contains(&used), "{used} of 4");
        let stopped = trackers.starved_ps as f64 / 1e3 / r.measured_ns;
        assert!((0.9..=1.0).contains(&stopped), "{stopped} of the time");
        assert!(trackers.holds_writes_ps > 0 && trackers.holds_cores_ps > trackers.starved_ps / 2);
        assert_eq!((queue.holds_writes_ps, queue.starved_ps), (0, 0));
    }

    #[test]
    fn few_buffers_hold_back_in_the_write_queues() {
        let few = [
            ("/machine/llc/writeback_buffers", 1.into()),
            ("/machine/dram/write_queue", 2.into()),
            ("/machine/llc/home_trackers", 1000.into()),
        ];
        let r = contended(&few);
        let (trackers, queue) = (of(&r, "home-trackers").unwrap(), of(&r, "write-queue").unwrap());
        assert!(queue.starved_ps as f64 > 0.1e3 * r.measured_ns, "{queue:?}");
        assert!(queue.holds_writes_ps > 0 && queue.holds_cores_ps > 0);
        assert_eq!((trackers.holds_writes_ps, trackers.starved_ps), (0, 0));
        assert!(of(&contended(&few[..2]), "home-trackers").is_none(), "without a number of them");
    }
}
