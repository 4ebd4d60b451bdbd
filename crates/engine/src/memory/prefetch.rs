//! The hardware prefetcher of a core's L2.
//!
//! It sees the core's requests as they reach the LLC and names lines that the core may want next.
//! It never crosses a 4 KiB page, because it works on physical addresses.

use std::ops::Range;

use super::line::{LINE_BYTES, Line};
use crate::config::machine::{Machine, Prefetch};

/// Lines of a 4 KiB page.
const PAGE: Line = 4096 / LINE_BYTES as Line;

/// Pages followed at a time: one forward stream in each of 32 pages (Intel 64 and IA-32
/// Architectures Optimization Reference Manual, "Data prefetch to the L2 and last level cache").
const STREAMS: usize = 32;

/// How far a stream runs ahead of the last request: up to 20 lines (the same section).
const DISTANCE: Line = 20;

/// What is known of the misses in a page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: Line,
    /// The line after the last request.
    next: Line,
    /// The first line that has not been asked for.
    ahead: Line,
}

/// The prefetcher of one core.
#[derive(Clone, Debug)]
pub(crate) struct Prefetcher {
    streams: Option<Vec<Stream>>,
    /// The stream that makes room for a new one, round robin.
    hand: usize,
    /// Prefetches on their way from memory, and how many of them there may be.
    in_flight: u32,
    most: u32,
}

impl Prefetcher {
    /// The prefetcher of each core, or none at all.
    pub(crate) fn for_cores(machine: &Machine) -> Vec<Prefetcher> {
        let none = Stream { page: Line::MAX, next: Line::MAX, ahead: Line::MAX };
        let streams = match machine.l2.prefetch {
            Prefetch::None => return Vec::new(),
            // A streamer chooses its lines by itself; what is in flight counts here.
            Prefetch::NextLine | Prefetch::Streamer => None,
            Prefetch::Stream => Some(vec![none; STREAMS]),
        };
        let most = machine.l2.superqueue - machine.core.l1_miss_registers;
        vec![Prefetcher { streams, hand: 0, in_flight: 0, most }; machine.core.count as usize]
    }

    /// The core has requested a line: the lines to fetch, as many as may be in flight.
    pub(crate) fn observe(&mut self, line: Line) -> Range<Line> {
        let room = self.most - self.in_flight;
        let end_of_page = (line / PAGE + 1) * PAGE;
        let Some(streams) = &mut self.streams else {
            return line + 1..(line + 1 + room.min(1)).min(end_of_page);
        };
        let page = line / PAGE;
        let Some(stream) = streams.iter_mut().find(|s| s.page == page) else {
            streams[self.hand] = Stream { page, next: line + 1, ahead: line + 1 };
            self.hand = (self.hand + 1) % STREAMS;
            return line..line;
        };
        if line + 1 == stream.next {
            // The same request once more, after it has waited.
            return line..line;
        }
        if !(stream.next..=stream.ahead).contains(&line) {
            (stream.next, stream.ahead) = (line + 1, line + 1);
            return line..line;
        }
        let first = stream.ahead.max(line + 1);
        let last = (line + 1 + DISTANCE).min(end_of_page).min(first + room).max(first);
        (stream.next, stream.ahead) = (line + 1, last);
        first..last
    }

    /// Whether one more prefetch may go to memory.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight < self.most
    }

    /// A prefetch has gone to memory.
    pub(crate) fn sent(&mut self) {
        self.in_flight += 1;
    }

    /// Its line has come.
    pub(crate) fn arrived(&mut self) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::forwarder;

    /// Of a core that may have 20 prefetches on their way.
    fn one(kind: Prefetch) -> Prefetcher {
        for_cores(kind).remove(0)
    }

    fn for_cores(kind: Prefetch) -> Vec<Prefetcher> {
        let mut machine = forwarder(&[]).machine;
        machine.l2.prefetch = kind;
        machine.l2.superqueue = machine.core.l1_miss_registers + 20;
        Prefetcher::for_cores(&machine)
    }

    #[test]
    fn no_prefetcher_is_no_state() {
        assert!(for_cores(Prefetch::None).is_empty());
    }

    #[test]
    fn next_line_stays_in_the_page() {
        let mut p = one(Prefetch::NextLine);
        assert_eq!(p.observe(5), 6..7);
        assert_eq!(p.observe(700), 701..702);
        assert!(p.observe(2 * PAGE - 1).is_empty());
    }

    #[test]
    fn two_ascending_misses_start_a_stream_that_goes_on_where_it_stopped() {
        let mut p = one(Prefetch::Stream);
        assert!(p.observe(3).is_empty());
        assert_eq!(p.observe(4), 5..25);
        assert!(p.observe(4).is_empty(), "a repeated request is none");
        // The first line that was not prefetched misses.
        assert_eq!(p.observe(25), 26..46);
        // A demand miss on a line that is still on its way tops the stream up.
        assert_eq!(p.observe(30), 46..51);
        assert_eq!(p.observe(51), 52..PAGE);
        assert!(p.observe(PAGE).is_empty(), "the next page trains anew");
        assert_eq!(p.observe(PAGE + 1), PAGE + 2..PAGE + 22);
    }

    #[test]
    fn jumps_and_descents_start_nothing() {
        let mut p = one(Prefetch::Stream);
        for line in [40, 10, 9, 8, 20, 50] {
            assert!(p.observe(line).is_empty(), "line {line}");
        }
    }

    #[test]
    fn what_is_in_flight_bounds_both_kinds() {
        for kind in [Prefetch::NextLine, Prefetch::Stream] {
            let mut p = one(kind);
            p.observe(0);
            for _ in 0..17 {
                p.sent();
            }
            assert!(p.observe(1).len() <= 3);
            for _ in 0..3 {
                p.sent();
            }
            assert!(p.observe(2).is_empty());
            p.arrived();
            assert!(p.observe(3).len() <= 1);
        }
    }
}
