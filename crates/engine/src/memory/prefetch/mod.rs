//! The hardware prefetcher of a core's L2.
//!
//! It learns from what the core accesses and names lines that the core may want next. It never crosses
//! a 4 KiB page, because it works on physical addresses.

mod stream;
mod streamer;

use std::collections::VecDeque;

use self::stream::Streams;
use self::streamer::Streamer;
use super::line::{Line, LineKind, PAGE_LINES};
use crate::memory::config::{Hierarchy, Prefetch};
use crate::time::Ps;

/// Pages followed at a time: one forward stream in each of 32 pages (Intel 64 and IA-32
/// Architectures Optimization Reference Manual, "Data prefetch to the L2 and last level cache").
const STREAMS: usize = 32;

/// How far a stream runs ahead of the core's accesses: up to 20 lines (the same section).
const AHEAD: Line = 20;

/// The first line after the page of a line. (The last line of all does not exist: [`EMPTY`](super::ways::EMPTY) stands in its place.)
fn end_of_page(line: Line) -> Line {
    (line | (PAGE_LINES - 1)).saturating_add(1)
}

/// The line after the furthest one to which a stream runs ahead of a line.
fn end_ahead(line: Line) -> Line {
    end_of_page(line).min(line.saturating_add(AHEAD + 1))
}

/// Which lines the prefetcher fetches.
#[derive(Clone, Debug)]
enum Pattern {
    /// The line after each one that the core requests from the LLC.
    NextLine,
    /// Streams among the lines that the core requests from the LLC.
    Stream(Streams),
    /// Streams among the lines for which the L2 is looked up.
    Streamer(Box<Streamer>),
}

/// The prefetcher of one core.
#[derive(Clone, Debug)]
pub(crate) struct Prefetcher {
    pattern: Pattern,
    /// Lines to fetch, each with the kind of the access that caused it, the next one last. They go out
    /// with the core's next request to the LLC.
    wanted: Vec<(Line, LineKind)>,
    /// Prefetches on their way from memory.
    from_memory: u32,
    /// Lines on their way from the LLC and when they reach the L2, in that order.
    from_llc: VecDeque<(Line, Ps)>,
    /// How many prefetches there may be on their way.
    most: u32,
    /// The trip of a request from the L2 to the LLC. Prefetches are told of when they reach the LLC, but
    /// have held a place from when they left the L2.
    trip: Ps,
}

impl Prefetcher {
    /// The prefetcher of each core, or none at all.
    pub(crate) fn for_cores(parts: &Hierarchy<'_>) -> Vec<Prefetcher> {
        let pattern = match parts.l2.prefetch {
            Prefetch::None => return Vec::new(),
            Prefetch::NextLine => Pattern::NextLine,
            Prefetch::Stream => Pattern::Stream(Streams::new()),
            Prefetch::Streamer => Pattern::Streamer(Box::new(Streamer::new())),
        };
        let most = parts.l2.superqueue - parts.l1_miss_registers;
        let one = Prefetcher {
            pattern,
            wanted: Vec::new(),
            from_memory: 0,
            from_llc: VecDeque::with_capacity(most as usize),
            most,
            trip: parts.uncore.clock().at(u64::from(parts.noc.latency_cycles)),
        };
        vec![one; parts.cores as usize]
    }

    /// The L2 is looked up for a line (hit or miss).
    #[inline]
    pub(crate) fn lookup(&mut self, line: Line, kind: LineKind) {
        if let Pattern::Streamer(streamer) = &mut self.pattern {
            streamer.lookup(line, kind, &mut self.wanted);
        }
    }

    /// The core's request for a line has reached the LLC.
    #[inline]
    pub(crate) fn request(&mut self, now: Ps, line: Line, kind: LineKind) {
        // A line from the LLC keeps its place for one trip longer than it takes, because it has got it
        // one trip too late.
        while self.from_llc.front().is_some_and(|&(_, arrives)| arrives + self.trip <= now) {
            self.from_llc.pop_front();
        }
        let room = self.room();
        match &mut self.pattern {
            Pattern::NextLine if room > 0 && line + 1 < end_of_page(line) => {
                self.wanted.push((line + 1, kind));
            }
            Pattern::Stream(streams) => {
                let lines = streams.request(line, room).rev();
                self.wanted.extend(lines.map(|line| (line, kind)));
            }
            Pattern::NextLine | Pattern::Streamer(_) => {}
        }
    }

    /// The next line to fetch.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Line, LineKind)> {
        self.wanted.pop()
    }

    /// How many more prefetches may go out, as of the last request.
    #[inline]
    fn room(&self) -> u32 {
        self.most - self.from_memory - self.from_llc.len() as u32
    }

    /// Whether one more prefetch may go out.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// A prefetch has found its line in the LLC. The line reaches the L2 at `arrives`.
    #[inline]
    pub(crate) fn found_in_llc(&mut self, line: Line, arrives: Ps) {
        self.from_llc.push_back((line, arrives));
    }

    /// When a line that the L2 holds reaches or has reached it; zero if that is long ago.
    #[inline]
    pub(crate) fn arrives(&self, line: Line) -> Ps {
        let last = self.from_llc.iter().rev().find(|coming| coming.0 == line);
        last.map_or(Ps::ZERO, |&(_, arrives)| arrives)
    }

    /// The core has requested a line before its prefetch from the LLC arrived, and takes it over. Returns
    /// when it arrives, if it is on its way.
    #[inline]
    pub(crate) fn take_over(&mut self, line: Line) -> Option<Ps> {
        let place = self.from_llc.iter().position(|coming| coming.0 == line)?;
        self.from_llc.remove(place).map(|(_, arrives)| arrives)
    }

    /// A prefetch has gone to memory.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.from_memory += 1;
    }

    /// A prefetch is no longer on its way from memory: its line has arrived, or its core has taken it
    /// over.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        self.from_memory -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::config::Inclusion;
    use crate::stats::results::Results;
    use crate::testing::{every, forwarder, results, xmem};

    /// The prefetcher of a core that may have 20 prefetches in flight.
    fn one(kind: Prefetch) -> Prefetcher {
        for_cores(kind).remove(0)
    }

    fn for_cores(kind: Prefetch) -> Vec<Prefetcher> {
        let mut machine = forwarder(&[]).machine;
        machine.l2.prefetch = kind;
        machine.l2.superqueue = machine.core.l1_miss_registers + 20;
        Prefetcher::for_cores(&machine.hierarchy())
    }

    /// What a prefetcher fetches when its core misses the L2, in order.
    fn miss(p: &mut Prefetcher, line: Line) -> Vec<Line> {
        p.lookup(line, LineKind::App);
        p.request(Ps::ZERO, line, LineKind::App);
        std::iter::from_fn(|| p.next()).map(|(line, _)| line).collect()
    }

    /// Copying packets on two cores with streamers.
    fn copying(inclusion: &str, policy: &str, metadata: &str) -> Results {
        results(&forwarder(&[
            ("/machine/llc/inclusion", inclusion.into()),
            ("/machine/l2/prefetch", "streamer".into()),
            ("/machine/l2/superqueue", 30.into()),
            ("/tenants/0/app/transmit", "copy".into()),
            ("/queues/metadata", metadata.into()),
            ("/placement/policy", policy.into()),
        ]))
    }

    #[test]
    fn what_lies_outside_of_the_hierarchy_is_not_prefetched() {
        let hits = |policy: &str| {
            let caches = copying("non-inclusive", policy, "0 B").caches;
            caches.iter().find(|c| c.level == "l2" && c.kind == "rx").expect("lookups").hits
        };
        assert!(hits("ddio") > 1_000);
        assert_eq!(hits("ideal-ddio"), 0);
    }

    #[test]
    fn what_is_written_back_is_of_the_kind_that_was_stored() {
        let all = every::<Inclusion>().into_iter().flat_map(|i| [(i, "0 B"), (i, "128 B")]);
        for (inclusion, metadata) in all {
            let inclusion = serde_json::to_value(inclusion).unwrap();
            let r = copying(inclusion.as_str().unwrap(), "dma", metadata);
            let found = |cause: &str| r.memory.causes.iter().find(|c| c.cause == cause);
            let lines = |cause: &str| found(cause).map_or(0, |c| c.lines);
            assert!(lines("prefetch-rd") > 1_000);
            // Packets that DMA wrote to memory and that are only read are not written back, even if a
            // streamer runs from them into the next buffer's metadata.
            assert!(lines("tx-evct") > 1_000);
            assert_eq!(lines("rx-evct"), 0, "{metadata} of metadata");
            assert_eq!(lines("mbuf-evct") > 0, metadata != "0 B");
        }
    }

    #[test]
    fn no_prefetcher_is_no_state() {
        assert!(for_cores(Prefetch::None).is_empty());
    }

    #[test]
    fn next_line_stays_in_the_page() {
        let mut p = one(Prefetch::NextLine);
        assert_eq!(miss(&mut p, 5), [6]);
        assert_eq!(miss(&mut p, 700), [701]);
        assert!(miss(&mut p, 2 * PAGE_LINES - 1).is_empty());
    }

    #[test]
    fn a_stream_is_fetched_in_ascending_order() {
        let mut p = one(Prefetch::Stream);
        assert!(miss(&mut p, 3).is_empty());
        assert!(miss(&mut p, 4).into_iter().eq(5..25));
    }

    /// The L2 reports hits to it too, and the prefetches that these cause go out with the next miss.
    #[test]
    fn only_the_streamer_learns_from_lookups_that_hit() {
        for (kind, fetched) in
            [(Prefetch::NextLine, 1), (Prefetch::Stream, 0), (Prefetch::Streamer, 2)]
        {
            let mut p = one(kind);
            p.lookup(3, LineKind::App);
            p.lookup(4, LineKind::App);
            assert_eq!(miss(&mut p, 10 * PAGE_LINES).len(), fetched, "{kind:?}");
        }
    }

    #[test]
    fn a_line_from_the_llc_holds_its_place_until_it_arrives_and_for_the_trip_before() {
        let mut p = one(Prefetch::NextLine);
        let (trip, arrives) = (p.trip, Ps::from_ns(50));
        assert!(trip > Ps::ZERO);
        for line in 0..20 {
            assert!(p.has_room());
            p.found_in_llc(line, arrives);
        }
        let mut has_room = |now| {
            p.request(now, 2 * PAGE_LINES - 1, LineKind::App);
            p.has_room()
        };
        assert!(!has_room(arrives + trip - Ps(1)));
        assert!(has_room(arrives + trip));
    }

    #[test]
    fn a_core_takes_over_what_its_prefetcher_fetches_from_the_llc_and_its_place() {
        let mut p = one(Prefetch::NextLine);
        for line in 0..20 {
            p.found_in_llc(line, Ps::from_ns(line.into()));
        }
        assert_eq!((p.arrives(7), p.arrives(20)), (Ps::from_ns(7), Ps::ZERO));
        assert_eq!((p.take_over(7), p.take_over(20)), (Some(Ps::from_ns(7)), None));
        assert!(p.has_room());
        assert_eq!((p.take_over(7), p.arrives(7)), (None, Ps::ZERO));
    }

    /// Little's law: a place of the superqueue for each line on its way, for the latency of an LLC hit.
    #[test]
    fn a_core_reads_the_llc_in_sequence_as_fast_as_its_superqueue_allows() {
        for (prefetch, superqueue) in [("none", 10), ("stream", 14), ("streamer", 14)] {
            let r = results(&xmem(
                "sequential",
                "64 KiB",
                &[
                    ("/machine/l2/prefetch", prefetch.into()),
                    ("/machine/l2/superqueue", superqueue.into()),
                ],
            ));
            assert_eq!(r.memory.causes.iter().map(|c| c.lines).sum::<u64>(), 0, "{prefetch}");
            // Lookup in the L2, two trips and the slice: 14 + 2 * 8 + 30 cycles of 0.5 ns.
            let allowed = f64::from(superqueue) / 30e-9;
            let lines = r.tenants[0].progress_mps * 1e6 / 8.0;
            // A stream starts anew in each page.
            assert!((0.94..=1.0).contains(&(lines / allowed)), "{prefetch}: {lines} of {allowed}");
        }
    }

    #[test]
    fn what_is_in_flight_bounds_the_lines_named() {
        for kind in [Prefetch::NextLine, Prefetch::Stream] {
            let mut p = one(kind);
            miss(&mut p, 0);
            for _ in 0..17 {
                p.sent();
            }
            let named = if kind == Prefetch::NextLine { 1 } else { 3 };
            assert_eq!(miss(&mut p, 1).len(), named, "{kind:?}");
            for _ in 0..3 {
                p.sent();
            }
            assert!(!p.has_room());
            assert!(miss(&mut p, 2).is_empty());
            p.arrived();
            assert!(p.has_room());
            assert_eq!(miss(&mut p, 3).len(), 1, "{kind:?}");
        }
    }
}
