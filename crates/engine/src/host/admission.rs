//! Before the LLC: requests of cores and DMA that wait until it takes requests again, in one line, in the
//! order in which they came.

use super::domains::DomainCounters;
use super::timeline::Point;
use super::{Event, Host};
use crate::time::Ps;

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
        let DomainCounters { stopped, stopped_cores, .. } = &mut self.meters.domains;
        let (lines, _) = event.write_credits();
        stopped.used.enter(now, lines);
        stopped_cores.enter(now, u64::from(lines == 0));
        stopped.starved.begin(now);
        self.held_back.push_back(event);
    }

    /// Lets what was held back happen as far as the LLC takes requests again.
    #[cold]
    pub(super) fn release(&mut self, now: Ps) {
        while self.memory.backend.takes_requests()
            && let Some(event) = self.held_back.pop_front()
        {
            let DomainCounters { stopped, stopped_cores, .. } = &mut self.meters.domains;
            let (lines, _) = event.write_credits();
            stopped.used.leave(now, lines);
            stopped_cores.leave(now, u64::from(lines == 0));
            if self.held_back.is_empty() {
                stopped.starved.end(now);
            }
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
